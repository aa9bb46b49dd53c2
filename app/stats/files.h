/* files.h - files of this folder that are part of the program (embed.cmake): pages, tables. */
#ifndef HEDDLE_STATS_FILES_H
#define HEDDLE_STATS_FILES_H

struct report_file {
    const char *name, *text;
};

/* The name of the last is NULL. */
extern const struct report_file report_files[];

/* The text of the file; NULL if there is none of that name. */
const char *report_file(const char *name);

#endif
