//! Pages on the forge, whole: a story as people see it, and properties over hostile ones.
