# What is run with sanitizers of the tests that are scripts: one for each part of our code that takes part, and
# no two that differ in what is recorded, built or compared alone. Unit tests, goldens and saved inputs of the
# fuzz targets all run.
set(SANITIZED_LABELS live page compared)
set(SANITIZED_TESTS
  # record: the ring, threads, stacks, what is kept of runtimes; sessions that end in all ways
  recorder_plain recorder_compressed recorder_dwarf recorder_threads recorder_unprivileged recorder_special
  session_shells session_interrupt session_killed session_attach bpf_before
  truth_both truth_fork
  # the agents and the attaching to what runs
  java_sanitized interpreted_sanitized agent_both_3.11 agent_exec agent_blocked
  # interpreters: the walk, slots, their frames in reports
  interpreters_system interpreters_php interpreters_slot_attach slot_copied
  merge_python merge_lua merge_compiled_php merge_slot_dwarf
  # what is read
  debuginfo_symbolizer_clang-c-5 debuginfo_symbolizer_gcc-c++-4-zlib-gnu+dwz debuginfo_symbolizer_gcc-c++-5-split
  sources lines_recorded clr_pdb nettrace clr_image emit_example
  # inject
  inject_truth_map-reuse inject_output_group inject_output_polyperf inject_store_list inject_tools_pipe
  inject_interpreted_php_fp inject_interpreted_compiled
  # diff, top, the page
  diff_node top_exit top_screen
  page_difference_hostile page_served page_lanes_to_hostile_views
)
