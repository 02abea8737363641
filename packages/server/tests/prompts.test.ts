import { expect, test } from 'vitest';
import { behindTwoDoors, type Connection } from './doors.js';

const words = async ({ client }: Connection, name: string, args: Record<string, string>): Promise<string> => {
  const { messages } = await client.getPrompt({ name, arguments: args });
  expect(messages.map(({ role }) => role)).toEqual(['user']);
  const [message] = messages;
  return message?.content.type === 'text' ? message.content.text : '';
};

behindTwoDoors({}, (door) => {
  test('five prompts are listed, with what they ask for', async () => {
    const { prompts } = await door().client.listPrompts();
    const asked = prompts.map(({ name, title, description, arguments: args = [] }) => {
      expect(title && description && args.every((one) => one.description)).toBeTruthy();
      return [name, args.map((one) => (one.required ? one.name : `${one.name}?`)).join(' ')];
    });
    expect(asked).toEqual([
      ['execute-python', 'task venvName?'],
      ['debug-python', 'code error? venvName?'],
      ['install-packages', 'packages venvName?'],
      ['create-venv', 'venvName purpose packages?'],
      ['strategic-analysis', 'persona capability? question'],
    ]);
  });

  test('execute-python holds the task, and the environment where one is named', async () => {
    const plain = await words(door(), 'execute-python', { task: 'Count the primes.' });
    expect(plain).toContain('Count the primes.');
    expect(plain).toContain('# /// script');
    expect(plain).not.toContain('venvName');
    const named = await words(door(), 'execute-python', { task: 'Count.', venvName: 'math' });
    expect(named).toContain('execute_python (venvName: "math")');
    expect(named).toContain('install_packages');
  });

  test('debug-python holds the code whatever is in it, and the error', async () => {
    const code = 'print("""\n```\n""")\n';
    const text = await words(door(), 'debug-python', { code, error: 'NameError: x' });
    expect(text).toContain(`\`\`\`\`python\n${code}\`\`\`\``);
    expect(text).toContain('```\nNameError: x\n```');
    expect(await words(door(), 'debug-python', { code })).not.toContain('Known about the failure');
  });

  test('install-packages and create-venv hold what was filled in', async () => {
    const install = await words(door(), 'install-packages', { packages: 'numpy>=2, rich', venvName: 'a"b' });
    expect(install).toContain(
      'install_packages (venvName: "a\\"b"), each as one item of its list: numpy>=2, rich',
    );
    const create = await words(door(), 'create-venv', { venvName: 'ml', purpose: 'To learn.' });
    expect(create).toContain('create_venv (venvName: "ml") for this purpose:\nTo learn.');
    expect(create).toContain('Choose the packages');
    const given = { venvName: 'ml', purpose: 'To learn.', packages: 'scikit-learn' };
    expect(await words(door(), 'create-venv', given)).toContain('list: scikit-learn');
  });

  test('strategic-analysis holds the question, and who asks for what', async () => {
    const args = { persona: 'diego', capability: 'roi_calculations', question: 'Is it worth it?' };
    const text = await words(door(), 'strategic-analysis', args);
    expect(text).toContain(
      'execute_strategic_code (persona: "diego", capability: "roi_calculations"):\nIs it worth it?',
    );
    const { capability: _, ...without } = args;
    expect(await words(door(), 'strategic-analysis', without)).toContain(
      'execute_strategic_code (persona: "diego"):\nIs it worth it?',
    );
    expect(text).toContain('The persona is Engineering Leadership, leadership_metrics.');
    expect(await words(door(), 'strategic-analysis', { ...args, persona: 'nobody' })).not.toContain(
      'The persona is',
    );
  });

  test('personas and capabilities are completed', async () => {
    const complete = async (name: string, value: string) =>
      (
        await door().client.complete({
          ref: { type: 'ref/prompt', name: 'strategic-analysis' },
          argument: { name, value },
        })
      ).completion.values;
    expect(await complete('persona', '')).toEqual(['diego', 'alvaro', 'martin', 'camille', 'rachel']);
    expect(await complete('persona', 'ca')).toEqual(['camille']);
    expect(await complete('capability', 'ro')).toEqual(['roi_calculations']);
    expect(await complete('capability', '')).toHaveLength(5);
  });

  test('a prompt without what it needs, or of another name, is a protocol error', async () => {
    const { client } = door();
    await expect(client.getPrompt({ name: 'execute-python', arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('task'),
    });
    await expect(client.getPrompt({ name: 'no-such-prompt' })).rejects.toMatchObject({ code: -32602 });
  });

  test('the name of an environment is completed from those that there are', async () => {
    const complete = async (name: string, value: string) =>
      (
        await door().client.complete({
          ref: { type: 'ref/prompt', name },
          argument: { name: 'venvName', value },
        })
      ).completion.values;
    expect(await complete('execute-python', 'def')).toEqual(['default']);
    expect(await complete('install-packages', 'x')).toEqual([]);
    expect(await complete('create-venv', '')).toEqual([]);
  });
});
