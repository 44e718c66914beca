package a

// f keeps what is pending.
func f() int { return 1 }
