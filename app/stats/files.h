/* files.h - pages and tables of this folder that are embedded in the program (embed.cmake). */
#ifndef HEDDLE_STATS_FILES_H
#define HEDDLE_STATS_FILES_H

struct report_file {
    const char *name, *text;
};

/* The last name is NULL. */
extern const struct report_file report_files[];

/* Return the text of the file; NULL if there is none of that name. */
const char *report_file(const char *name);

#endif
