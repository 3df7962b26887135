#include "annotate/row.h"

const char *annotate_row_kind_name(enum annotate_row_kind kind)
{
	static const char *const names[] = {
#define X(name, text) [ANNOTATE_ROW_##name] = text,
		ANNOTATE_ROW_KINDS(X)
#undef X
	};
	return names[kind];
}

const char *annotate_flow_name(enum annotate_flow flow)
{
	static const char *const names[] = {
#define X(name, text) [ANNOTATE_FLOW_##name] = text,
		ANNOTATE_FLOWS(X)
#undef X
	};
	return names[flow];
}
