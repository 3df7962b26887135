/* option.h - what help, man page and completion read from an argp option table. */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include "base/sink.h"
#include "cli/command.h"

/* --help, which every command has. */
extern const struct argp_option command_common_options[];

static inline bool option_is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

/* "What to record:" above the options of a group. */
static inline bool option_is_header(const struct argp_option *o)
{
	return !o->name && !o->key && o->doc;
}

/* An option that is shown; aliases are shown with the option they belong to. */
static inline bool option_is_listed(const struct argp_option *o)
{
	return !option_is_header(o) && !(o->flags & (OPTION_HIDDEN | OPTION_ALIAS));
}

static inline bool option_is_alias(const struct argp_option *o)
{
	return !option_is_end(o) && (o->flags & OPTION_ALIAS) && !(o->flags & OPTION_HIDDEN);
}

/* The letter of "-x", or 0. */
static inline char option_letter(const struct argp_option *o)
{
	if (o->key <= ' ' || o->key > '~')
		return '\0';
	return (char)o->key;
}

#endif
