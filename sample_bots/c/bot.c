/* A bot in C without a library. It reads one line and writes one line.
 * A question is {"choices":6,"act":{...,"luck":"1234567890123",...}} (docs/reference/protocol.md). The
 * answer is the number of a legal action, from 0, or {"choice":3,"note":"words"}. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number after the first `"name":` or `"name":"` of a line. */
static unsigned long long number(const char *line, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(line, key);
    return found ? strtoull(found + strlen(key) + (found[strlen(key)] == '"'), NULL, 10) : 0;
}

/* Answers one question with the number of an action; 0 is the least risky. */
static unsigned choose(const char *question, unsigned choices)
{
    return number(question, "luck") % choices; /* the same for the same question */
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a pipe is block-buffered by default */
    while (getline(&line, &size, stdin) > 0)
        if (strncmp(line, "{\"choices\":", 11) == 0)
            printf("%u\n", choose(line, (unsigned)number(line, "choices")));
        else
            puts("{}"); /* {"start":{...}} and {"end":{...}}: no answer needed */
    return 0;
}
