import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import {
  judgeSnapshot,
  SnapshotStore,
  snapshotFile,
  snapshotName,
  snapshotOf,
} from '../../src/judge/snapshots.js';

import { judged, messages, resource, structured, text } from './answers.js';

test('a snapshot holds the answer without the envelope of the protocol', () => {
  expect(snapshotOf(resource({ uri: 'a:b', text: 'x' }), [])).toEqual({
    contents: [{ uri: 'a:b', text: 'x' }],
  });
});

test('what is ignored is ignored in the structured content and in the same JSON as a text', () => {
  const kept = snapshotOf(structured({ at: '10:00', n: 1 }), ['$.at']);
  expect(
    messages({ snapshot_ignore: ['$.at'] }, structured({ at: '11:00', n: 1 }), {
      snapshot: { name: 's', kept },
    }),
  ).toEqual([]);
  const found = judged({ snapshot_ignore: ['$.at'] }, structured({ at: '11:00', n: 2 }), {
    snapshot: { name: 's', kept },
  });
  expect(found).toMatchObject([{ kind: 'snapshot' }]);
  expect(found[0]?.diff).toContain('-     "n": 1\n+     "n": 2');
});

test('what lies inside of what is ignored is ignored with it', () => {
  expect(snapshotOf(structured([{ a: { b: 1 } }]), ['$[0].a', '$..b', '$.nowhere'])).toEqual(
    snapshotOf(structured([{ a: { b: 2 } }]), ['$[0].a', '$..b', '$.nowhere']),
  );
  expect(snapshotOf(text('a'), ['$[0].text'])).toEqual({ content: [{ type: 'text', text: '<ignored>' }] });
});

test('a snapshot bears the name that it is given, or that of its test', () => {
  const names = [true, 'mine', false, undefined].map((snapshot) => snapshotName(snapshot, 'tool/a/b'));
  expect(names).toEqual(['tool/a/b', 'mine', undefined, undefined]);
});

test('the sentence says what to do', () => {
  expect(judgeSnapshot('mine', 1, 2)[0]?.message).toBe(
    'The answer differs from the snapshot "mine". If it is right, update the snapshots.',
  );
  expect(judgeSnapshot('mine', { a: 1 }, { a: 1 })).toEqual([]);
});

const root = temporaryFolder();
const specification = () => join(mkdtempSync(join(root, 'spec-')), 'spec.yaml');

test('snapshots are kept in one file beside the specification, sorted, and only when they change', () => {
  const spec = specification();
  const store = new SnapshotStore(spec);
  expect(store.get('b')).toBeUndefined();
  expect(store.save()).toBe(false);
  expect(existsSync(snapshotFile(spec))).toBe(false);
  store.put('b', { n: 1 });
  store.put('a', null);
  expect(store.save()).toBe(true);
  expect(readFileSync(snapshotFile(spec), 'utf8')).toBe('{\n  "a": null,\n  "b": {\n    "n": 1\n  }\n}\n');
  const again = new SnapshotStore(spec);
  expect(again.get('a')).toEqual({ value: null });
  again.put('a', null);
  expect(again.save()).toBe(false);
  expect(again.unused()).toEqual(['b']);
  again.removeUnused();
  expect(again.save()).toBe(true);
  expect(new SnapshotStore(spec).get('b')).toBeUndefined();
});

test('a file that is not one of snapshots is told, not overwritten', () => {
  const spec = specification();
  const store = new SnapshotStore(spec);
  store.put('a', 1);
  store.save();
  writeFileSync(store.file, '<<<<<<< HEAD');
  expect(() => new SnapshotStore(spec)).toThrow(/: it is not a JSON object/);
});
