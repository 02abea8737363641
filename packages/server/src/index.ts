export { assertLoopback } from './http/connections.js';
export { startHttp } from './http.js';
export { startStdio } from './stdio.js';
