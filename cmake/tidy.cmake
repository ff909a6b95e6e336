# The tests that are not of one library: the command line, the set-up, and the tidy checks.

if(PYTHON3)
  meguri_python_test(cli src/app/cli_test.py)
  meguri_python_test(virtual_web src/app/virtual_web_test.py)
  meguri_python_test(crawl src/app/crawl_test.py)
  meguri_python_test(control src/app/control_test.py)
  meguri_python_test(simulate src/app/simulate_test.py)
  meguri_python_test(links src/web/links_test.py)
  meguri_python_test(warc_peers src/archive/warc_peers_test.py)
  meguri_python_test(snapshot_peers src/archive/snapshot_peers_test.py)
  meguri_python_test(wacz src/app/wacz_test.py)
endif()

# Whole crawls, which prove what the program does and take long with a sanitizer, and benchmarks,
# which are not built with one.
if(PYTHON3 AND NOT MEGURI_SANITIZE)
  meguri_python_test(bench src/app/bench_command_test.py)
  meguri_python_test(truth src/app/crawl_truth_test.py)
  meguri_python_test(kills src/app/crawl_kill_test.py)
  meguri_python_test(revisits src/app/crawl_revisit_test.py)
  meguri_python_test(hints src/app/crawl_hints_test.py)
  meguri_python_test(hostile src/app/crawl_hostile_test.py)
  meguri_python_test(soak src/app/crawl_soak_test.py)
  meguri_python_test(spool src/app/crawl_spool_test.py)
  meguri_python_test(mirror src/app/crawl_mirror_test.py)
  meguri_python_test(replay src/app/crawl_replay_test.py)
  meguri_python_test(crawl_config src/app/crawl_config_test.py)
  meguri_python_test(languages src/app/crawl_language_test.py)
  meguri_python_test(history src/app/crawl_history_test.py)
  meguri_python_test(aliases src/app/crawl_alias_test.py)
  meguri_python_test(observe src/app/observe_test.py)
  meguri_python_test(report src/app/report_test.py)
  meguri_python_test(demo src/app/demo_test.py)
  meguri_python_test(inspect src/app/inspect_test.py)
  meguri_python_test(warc src/app/warc_command_test.py)
  meguri_python_test(import src/app/import_test.py)
  meguri_python_test(large_record src/app/large_record_test.py)
  meguri_python_test(snapshot src/app/snapshot_test.py)
  meguri_python_test(verify src/app/verify_test.py)
  meguri_python_test(diff src/app/diff_test.py)
  meguri_python_test(scan src/app/scan_test.py)
endif()

# The rest has nothing to do with how the program was compiled.
if(PYTHON3 AND NOT MEGURI_SANITIZE)
  meguri_python_test(setup tools/setup_test.py)
  meguri_python_test(checks tools/checks_test.py)
  foreach(check IN ITEMS includes docs style)
    add_test(NAME tidy.${check} COMMAND "${PYTHON3}" -B "${CMAKE_SOURCE_DIR}/tools/check_${check}")
  endforeach()

  # Cheap when nothing changed. The lock keeps it apart from a build that starts meanwhile.
  add_test(NAME tidy.headers_compile_alone
           COMMAND flock "${CMAKE_BINARY_DIR}/.lock" "${CMAKE_COMMAND}" --build
                   "${CMAKE_BINARY_DIR}" --target all_verify_interface_header_sets)
  set_tests_properties(tidy.headers_compile_alone PROPERTIES TIMEOUT 1200)
endif()
