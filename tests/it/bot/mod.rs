//! The action in a world of its own: GitHub, a git server, and jobs one after the other.

mod commands;
mod hostile;
mod inputs;
mod life;
mod live;
mod meanwhile;
mod plans;
mod serve;
mod transcript;
mod world;
