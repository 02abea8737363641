import { oneLine } from '../base/terminal.js';
import type { ScopeViolation } from '../contract/outcome.js';

/** One line each, which editors understand: file:line:column rule reason. */
export const violationLines = (violations: readonly ScopeViolation[], file: string): string =>
  violations
    .map(({ line, column, rule, message }) => {
      const place = [file, line, column].filter((part) => part !== null).join(':');
      return `${place} ${rule} ${oneLine(message)}\n`;
    })
    .join('');
