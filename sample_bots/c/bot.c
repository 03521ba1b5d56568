/* A bot in C without any library: one line is read, one line is written.
 * A question is {"choices":6,"act":{...,"luck":"1234567890123",...}} (docs/reference/protocol.md); the
 * answer is the number of one of the listed actions, from 0, or {"choice":3,"note":"words"}. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind the first `"name":` or `"name":"` of a line. */
static unsigned long long number(const char *line, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(line, key);
    return found ? strtoull(found + strlen(key) + (found[strlen(key)] == '"'), NULL, 10) : 0;
}

/* Answers one question: the number of an action, the most harmless is 0. */
static unsigned choose(const char *question, unsigned choices)
{
    return number(question, "luck") % choices; /* the same whenever the same question is asked */
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a pipe would keep our lines back */
    while (getline(&line, &size, stdin) > 0)
        if (strncmp(line, "{\"choices\":", 11) == 0)
            printf("%u\n", choose(line, (unsigned)number(line, "choices")));
        else
            puts("{}"); /* {"start":{...}} and {"end":{...}}: nothing to say */
    return 0;
}
