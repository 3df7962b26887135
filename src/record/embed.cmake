# Compiles files into the program: embed_preloads(OUTPUT FILES...) writes a C file
# with the table of record/preload.h. Edited files are taken up by the next build.
function(embed_preloads output)
  set(entries "")
  set(arrays "")
  set(index 0)
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    get_filename_component(name ${file} NAME)
    string(APPEND arrays "static const uint8_t FILE_${index}[] = {${bytes}};\n")
    string(APPEND entries "\t{\"${name}\", {FILE_${index}, sizeof(FILE_${index})}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT
"#include \"record/preload.h\"
@arrays@
const struct preload PRELOADS[] = {
@entries@};
const size_t PRELOAD_COUNT = @index@;
" @ONLY)
endfunction()
