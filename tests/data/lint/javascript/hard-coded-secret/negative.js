export const apiKey = process.env.API_KEY;
export const password = 'password-field-1';
