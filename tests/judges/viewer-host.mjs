// The page of a host, with the official bridge for MCP Apps. The test bundles it for the browser.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const frame = document.querySelector('iframe');
const capabilities = { serverResources: {}, downloadFile: {} };
const bridge = new AppBridge(null, { name: 'host', version: '1.0.0' }, capabilities);
bridge.onreadresource = ({ uri }) => window.readResource(uri);
bridge.ondownloadfile = async ({ contents }) => {
  await window.downloaded(contents[0].uri);
  return {};
};
bridge.onsizechange = ({ height }) => {
  window.height = height;
};
const ready = new Promise((resolve) => {
  bridge.oninitialized = resolve;
});
window.showResult = async (result) => {
  await ready;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
};
await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
frame.src = '/viewer';
await ready;
window.isReady = true;
