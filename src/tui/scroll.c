#include "tui/scroll.h"

#include "tui/keys.h"

static void move_up(struct scroll *s, size_t by)
{
	s->chosen = s->chosen > by ? s->chosen - by : 0;
}

static void move_down(struct scroll *s, size_t count, size_t by)
{
	if (!count)
		return;
	s->chosen = count - 1 - s->chosen > by ? s->chosen + by : count - 1;
}

bool scroll_key(struct scroll *s, size_t count, int32_t key)
{
	const size_t page = s->page > 1 ? s->page : 1;
	if (s->chosen >= count)
		s->chosen = count ? count - 1 : 0;
	switch (key) {
	case KEY_IS_UP:
	case 'k':
		move_up(s, 1);
		return true;
	case KEY_IS_DOWN:
	case 'j':
		move_down(s, count, 1);
		return true;
	case KEY_IS_HOME:
	case 'g':
		s->chosen = 0;
		return true;
	case KEY_IS_LAST:
	case 'G':
		s->chosen = count ? count - 1 : 0;
		return true;
	case KEY_IS_PAGE_UP:
	case 'B' & 0x1f:
		s->first = s->first > page ? s->first - page : 0;
		move_up(s, page);
		return true;
	case KEY_IS_PAGE_DOWN:
	case 'F' & 0x1f:
		if (s->first + page < count)
			s->first += page;
		move_down(s, count, page);
		return true;
	case 'U' & 0x1f:
		move_up(s, page / 2 + 1);
		return true;
	case 'D' & 0x1f:
		move_down(s, count, page / 2 + 1);
		return true;
	default:
		return false;
	}
}

void scroll_fit(struct scroll *s, size_t count, size_t page)
{
	s->page = page;
	if (s->chosen >= count)
		s->chosen = count ? count - 1 : 0;
	if (s->first > s->chosen)
		s->first = s->chosen;
	if (page && s->chosen - s->first >= page)
		s->first = s->chosen - page + 1;
	/* No blank lines below while there are others above. */
	if (s->first + page > count)
		s->first = count > page ? count - page : 0;
}

void scroll_to(struct scroll *s, size_t count, size_t chosen)
{
	s->chosen = chosen < count ? chosen : count ? count - 1 : 0;
	if (s->chosen < s->first || s->chosen - s->first >= s->page)
		s->first = s->chosen > s->page / 2 ? s->chosen - s->page / 2 : 0;
}
