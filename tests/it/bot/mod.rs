//! The action in a world of its own: GitHub, a git server, and jobs one after the other.

mod hostile;
mod inputs;
mod life;
mod live;
mod serve;
mod world;
