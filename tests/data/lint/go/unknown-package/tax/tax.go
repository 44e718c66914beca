package tax

var Rate = "1"
