export function parseLenght(text) { return text; } // expect: misspelt-identifier
