/* What prism allocates with: see src/malloc.rs. */
#ifndef PRISM_XALLOCATOR_H
#define PRISM_XALLOCATOR_H

#include <stddef.h>

void *zakuro_parser_malloc(size_t size);
void *zakuro_parser_calloc(size_t count, size_t size);
void *zakuro_parser_realloc(void *block, size_t size);
void zakuro_parser_free(void *block);

#define xmalloc zakuro_parser_malloc
#define xcalloc zakuro_parser_calloc
#define xrealloc zakuro_parser_realloc
#define xfree zakuro_parser_free

#endif
