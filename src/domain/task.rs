//! Tasks, dependencies, queue.
