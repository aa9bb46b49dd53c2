# Writes OUT with HD_SCHEDULE_VERSION, the SHA-256 of the files that FILES lists (a ;-list): run by
# CMakeLists.txt whenever one of them changes.
set(all "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 version "${all}")
file(WRITE ${OUT} "/* Made by version.cmake from the folders that turn knobs into commands. */\n#define HD_SCHEDULE_VERSION \"${version}\"\n")
