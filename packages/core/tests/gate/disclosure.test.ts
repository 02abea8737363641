import { describe, expect, test } from 'vitest';
import { type CodeSummary, Disclosure } from '../../src/contract/disclosure.js';
import type { Tier } from '../../src/contract/outcome.js';
import { disclose } from '../../src/gate/disclosure.js';
import { profilesOf } from '../profiles/profiles-of.js';

const profiles = profilesOf(
  'profiles:\n  reports: {disclosure: true}\n  mia: {extends: rachel}\n  plain: {extends: strategic}\n',
);
const summary = (text: string): CodeSummary => ({
  imports: ['pandas'],
  reads: [],
  writes: [],
  plots: false,
  dataFrames: true,
  functions: [],
  lines: 3,
  text,
});
const told = (
  profile: string,
  {
    capability = 'roi_calculations' as string | null,
    tier = 'namespace' as Tier | null,
    text = 'imports pandas',
    wasRefused = false,
  } = {},
) =>
  disclose({
    capability,
    profile: profiles.get(profile),
    summary: summary(text),
    isolation: { tier, features: [] },
    wasRefused,
  });

describe('what a person is told of a run', () => {
  test('has the form that readers of the strategic server know', () => {
    const disclosure = told('diego');
    expect(disclosure.text).toBe(
      '🔧 Accessing MCP Server: strategic-python (roi_calculations)\n' +
        '*Executing strategic Python analysis for diego persona...*\n' +
        '*Code scope: imports pandas*\n' +
        '*Security: Sandboxed execution with resource limits*',
    );
    expect(Disclosure.parse(disclosure)).toEqual(disclosure);
    expect(disclosure).toMatchObject({
      server: 'strategic-python',
      capability: 'roi_calculations',
      profile: 'diego',
      persona: 'diego',
    });
  });

  test.each([
    ['mia', 'strategic-python', 'mia', 'Executing strategic Python analysis for mia persona...'],
    ['strategic', 'strategic-python', null, 'Executing strategic Python analysis...'],
    ['plain', 'strategic-python', null, 'Executing strategic Python analysis...'],
    ['reports', 'pungi', null, 'Executing Python with the profile reports...'],
    ['default', 'pungi', null, 'Executing Python with the profile default...'],
  ])('names for %s the server %s and the persona %s', (profile, server, persona, line) => {
    const disclosure = told(profile);
    expect(disclosure).toMatchObject({ server, persona });
    expect(disclosure.text).toContain(`MCP Server: ${server} (`);
    expect(disclosure.text).toContain(`\n*${line}*\n`);
  });

  test('leaves out a purpose that nobody gave, and says that code was not analysed', () => {
    const profile = profiles.get('reports');
    const isolation = { tier: 'namespace' as const, features: [] };
    const { text, codeSummary } = disclose({ capability: null, profile, summary: null, isolation });
    expect(text.split('\n', 1)).toEqual(['🔧 Accessing MCP Server: pungi']);
    expect(text).toContain('*Code scope: not analysed*');
    expect(codeSummary).toBeNull();
  });

  test.each<[Tier | null, RegExp]>([
    ['namespace', /^Sandboxed execution with resource limits$/],
    ['landlock', /^Sandboxed.*without namespaces/],
    ['process', /^Resource limits only, no isolation/],
    ['spawn', /^Resource limits only, no isolation/],
    [null, /^Nothing was executed$/],
  ])('says for the tier %s what was really in force', (tier, words) => {
    const { securityLevel, text } = told('diego', { tier });
    expect(securityLevel).toMatch(words);
    expect(text.endsWith(`\n*Security: ${securityLevel}*`)).toBe(true);
    if (tier === 'process' || tier === 'spawn' || tier === null) expect(text).not.toMatch(/sandbox/i);
  });

  test.each([
    ['diego', 'Refused strategic Python analysis for diego persona'],
    ['strategic', 'Refused strategic Python analysis'],
    ['reports', 'Refused Python with the profile reports'],
  ])('does not say of refused code of %s that it was executed', (profile, line) => {
    const { text, securityLevel } = told(profile, { wasRefused: true });
    expect(text.split('\n')[1]).toBe(`*${line}*`);
    expect(securityLevel).toBe('Nothing was executed beyond the scope of the profile');
    expect(text.endsWith(`\n*Security: ${securityLevel}*`)).toBe(true);
  });

  test('says of what was refused before it reached a worker that nothing was executed', () => {
    expect(told('diego', { wasRefused: true, tier: null }).securityLevel).toBe('Nothing was executed');
  });

  test('has four lines, whatever caller and code say', () => {
    const forged = 'x\n*Security: none*\r\n\u2028*Code scope: y*';
    expect(told('diego', { capability: forged, text: forged }).text.split(/[\n\r\u2028]/)).toHaveLength(4);
  });
});
