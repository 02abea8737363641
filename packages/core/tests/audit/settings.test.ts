import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { auditSettings, defaultAuditFolder } from '../../src/audit/folder.js';
import { loadConfig } from '../../src/config/load.js';

test('the folder is that of the state of programs, or below the home', () => {
  expect(defaultAuditFolder({ XDG_STATE_HOME: '/state', HOME: '/home/ann' })).toBe('/state/pungi/audit');
  expect(defaultAuditFolder({ HOME: '/home/ann' })).toBe('/home/ann/.local/state/pungi/audit');
  expect(defaultAuditFolder({ XDG_STATE_HOME: '', HOME: '/home/ann' })).toContain('/home/ann/');
});

test('settings come from the configuration', () => {
  const env = {
    AUDIT_DIR: 'here/audit',
    AUDIT_SYNC: 'full',
    AUDIT_STORE_CODE: 'false',
    AUDIT_RETENTION_DAYS: '30',
    AUDIT_MAX_MB: '64',
    AUDIT_WHEN_FULL: 'refuse',
  };
  expect(auditSettings(loadConfig({ env }))).toEqual({
    folder: resolve('here/audit'),
    sync: 'full',
    storeCode: false,
    retentionDays: 30,
    maxBytes: 64 * 1024 * 1024,
    whenFull: 'refuse',
  });
  expect(auditSettings(loadConfig({ env: {} }))).toEqual({
    folder: defaultAuditFolder(),
    sync: 'normal',
    storeCode: true,
    retentionDays: null,
    maxBytes: 1024 * 1024 * 1024,
    whenFull: 'rotate',
  });
  expect(auditSettings(loadConfig({ env: { ...env, AUDIT: 'false' } }))).toBeNull();
});
