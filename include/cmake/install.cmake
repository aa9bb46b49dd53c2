# The folders into which `cmake --install` puts files. Everything is found relative to the program or library
# (base/home.c), so the prefix may be moved.
include(CMakePackageConfigHelpers)

# libheddle.a: one object in which only heddle_* can be seen; its libraries are in heddle.pc.
set(static_library ${CMAKE_BINARY_DIR}/libheddle.a)
set(static_object ${CMAKE_BINARY_DIR}/gen/libheddle.o)
add_custom_command(
  OUTPUT ${static_library}
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${static_object} ${library_objects}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=heddle_* ${static_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${static_library}
  COMMAND ${CMAKE_AR} rcsD ${static_library} ${static_object}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${static_object}
  DEPENDS heddle_core heddle_base heddle_driver ${library_objects}
  COMMAND_EXPAND_LISTS
  COMMENT "Linking libheddle.a"
  VERBATIM)
add_custom_target(libheddle_static ALL DEPENDS ${static_library})

# Files for shells and man(1), written by the program itself.
set(completion ${CMAKE_BINARY_DIR}/completion.bash)
set(completion_zsh ${CMAKE_BINARY_DIR}/completion.zsh)
set(completion_fish ${CMAKE_BINARY_DIR}/completion.fish)
set(manual ${CMAKE_BINARY_DIR}/man1)
add_custom_command(
  OUTPUT ${completion} ${completion_zsh} ${completion_fish} ${manual}/heddle.1
  COMMAND heddle completion > ${completion}
  COMMAND heddle completion zsh > ${completion_zsh}
  COMMAND heddle completion fish > ${completion_fish}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
  COMMAND sh -c "for page in $(\"$0\" completion words ''); do \"$0\" man $page >man1/heddle-$page.1; done" $<TARGET_FILE:heddle>
  COMMAND heddle man > ${manual}/heddle.1
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  DEPENDS heddle
  VERBATIM
  COMMENT "Writing completion.bash, completion.zsh, completion.fish, man1")
add_custom_target(installable ALL
  DEPENDS heddle libheddle libheddle_static heddle_runtime heddle_prove heddle_qemu gen ${completion} ${manual}/heddle.1)

set(data ${CMAKE_INSTALL_DATADIR}/heddle)
install(TARGETS heddle RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS libheddle EXPORT heddleTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS heddle_runtime heddle_prove heddle_qemu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
install(FILES include/heddle/heddle.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle)
install(FILES include/heddle_target.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Files that heddle reads at run time.
install(DIRECTORY hw/rtl DESTINATION ${data}/hw)
install(FILES hw/accel.json hw/area.csv hw/model.csv DESTINATION ${data}/hw)
install(FILES app/regress/suite/suite.v1.schema.json DESTINATION ${data}/app/regress/suite)
install(DIRECTORY app/regress/ci DESTINATION ${data}) # templates to be copied
install(FILES app/oracle/oracle.py DESTINATION ${data}/app/oracle)
install(FILES ${GEN}/hd_accel.h DESTINATION ${data}/gen)
install(DIRECTORY driver kernels sim targets DESTINATION ${data})
install(FILES include/heddle_target.h DESTINATION ${data}/include)
install(DIRECTORY tests/models/ DESTINATION ${data}/tests/models
  FILES_MATCHING PATTERN "model.tflite" PATTERN "model.onnx" PATTERN "*.bin" PATTERN "labels.txt")

install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME heddle)
install(FILES ${completion_zsh} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  RENAME _heddle)
install(FILES ${completion_fish} DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  RENAME heddle.fish)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# find_package(heddle): heddle::heddle and, as component, static. pkg-config: heddle.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddleTargets NAMESPACE heddle:: DESTINATION ${package})
configure_package_config_file(include/cmake/heddleConfig.cmake.in ${CMAKE_BINARY_DIR}/heddleConfig.cmake
  INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/heddleConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/heddleConfig.cmake ${CMAKE_BINARY_DIR}/heddleConfigVersion.cmake
  DESTINATION ${package})
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(include/cmake/heddle.pc.in ${CMAKE_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
