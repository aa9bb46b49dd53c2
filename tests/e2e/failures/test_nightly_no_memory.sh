#!/bin/bash
# A thousand mallocs of each command.
exec bash "$(dirname "$0")/test_slow_no_memory.sh" 1000
