"""What all commands share where they meet the terminal.

console          what a command prints: tables, JSON, notices, progress
command_errors   exit codes, and errors as sentences about options
command_help     what options take, in words
cluster_option   on_cluster, what --ray and --workers ask for
put_off          modules that a command imports only if it has a use for them
options          options that several commands have, and paths as users type them
"""
