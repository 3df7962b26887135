/* bpf_code.h - the code and lines of BPF programs, from a recording's features.
 *
 *   bpf_code_symbol(load, &symbol, code);   of each KSYMBOL that became a code
 *   bpf_code_event(load, &event);           of each BPF_EVENT
 *   bpf_code_read(load);                    behind the sideband
 *   bpf_code_free(load);
 *
 * Each function of a program becomes records of a jitdump that is made in memory, and the code of
 * its KSYMBOL a piece with these: so all that is told of JIT code is told of them, too. A KSYMBOL
 * and a function belong together by address and tag; where programs came and went at one address
 * under one tag, BPF_EVENTs tell which it was.
 */
#ifndef LOAD_BPF_CODE_H
#define LOAD_BPF_CODE_H

#include "load/load_internal.h"

/* Each returns 0 or STATUS_NO_MEMORY; what the features contradict themselves in is left out. */
int bpf_code_symbol(struct load *load, const struct perfdata_ksymbol *symbol, uint32_t code);
int bpf_code_event(struct load *load, const struct perfdata_bpf_event *event);
int bpf_code_read(struct load *load);

/* The text of the line that entry `entry` of load_code_lines() of the piece tells of; NULL where
 * it is of no program, or nobody gave it.
 */
const char *bpf_code_line_text(const struct load *load, const struct piece *piece, uint32_t entry);

void bpf_code_free(struct load *load);

#endif
