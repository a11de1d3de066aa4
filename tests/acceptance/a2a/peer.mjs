// An A2A server of the official SDK, as a session's door would be. Listens on 127.0.0.1.
//
//   node peer.mjs '{"profile":"token-both","session":"ses_x","token":"t"}'
//
// Prints {"port":N} when it is ready and then one line a request: {"method":...,"path":...,
// "token":true|false}. Leaves on SIGTERM.
//
// Keys: profile, session, token, port (0: any), delayMs (before any answer), uri (of the extension
// that names the session), names ("session", "nobody": no such extension, "empty").
import express from 'express';

// sdk: which generation serves. old: a 1.0 server that speaks 0.3 too. token: only the extended card
// names the session. gate: 401 without the token, as an operator would put before the SDK, which by
// itself answers a wrong token with the public card. promise: it announces an extended card that it
// does not have.
const PROFILES = {
  'open-v1': { sdk: 'a2a-v1' },
  'open-both': { sdk: 'a2a-v1', old: true },
  'open-v03': { sdk: 'a2a-v03' },
  'open-v02': { sdk: 'a2a-v02' },
  'token-v1': { sdk: 'a2a-v1', token: true },
  'token-v1-gate': { sdk: 'a2a-v1', token: true, gate: true },
  'token-both': { sdk: 'a2a-v1', old: true, token: true, gate: true },
  'token-v1-promise': { sdk: 'a2a-v1', token: true, promise: true },
  'token-v03': { sdk: 'a2a-v03', token: true },
  'token-v03-gate': { sdk: 'a2a-v03', token: true, gate: true },
};

const asked = JSON.parse(process.argv[2]);
const profile = PROFILES[asked.profile];
const sdk = profile.sdk;
const uri = asked.uri ?? 'urn:rollcall:ext:session:1';
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const server = await import(`${sdk}/server`);
const naming = asked.names === 'nobody' ? []
  : [{ uri, required: false, params: { sessionId: asked.names === 'empty' ? '' : asked.session } }];
// First in the list and not ours: who goes by position reads the wrong one.
const other = { uri: 'https://example.invalid/other', required: false, params: { sessionId: 'wrong' } };
const base = {
  name: 'acceptance', description: 'a session', version: '1', skills: [],
  defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
};

async function cardsOfV1(url) {
  const { AgentCard } = await import(sdk);
  const at = (protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion });
  const card = (extensions) => AgentCard.fromJSON({
    ...base,
    supportedInterfaces: profile.old ? [at('1.0'), at('0.3')] : [at('1.0')],
    capabilities: { extendedAgentCard: Boolean(profile.token), extensions: [other, ...extensions] },
  });
  return { open: card(profile.token ? [] : naming),
    extended: profile.token && !profile.promise ? card(naming) : undefined };
}

function oldCards(url) {
  const card = (extensions) => ({
    ...base, url, preferredTransport: 'JSONRPC',
    protocolVersion: sdk === 'a2a-v02' ? '0.2.5' : '0.3.0',
    capabilities: { extensions: [other, ...extensions] },
    supportsAuthenticatedExtendedCard: Boolean(profile.token),
  });
  return { open: card(profile.token ? [] : naming), extended: profile.token ? card(naming) : undefined };
}

const tokenOf = (request) => /^Bearer (\S+)$/.exec(request.get('authorization') ?? '')?.[1];
const agent = { execute: async (_context, bus) => bus.finished(), cancelTask: async () => {} };
const app = express();
app.disable('x-powered-by');
app.use((request, response, next) => {
  say({ method: request.method, path: request.path, token: tokenOf(request) === asked.token });
  asked.delayMs ? setTimeout(next, asked.delayMs) : next();
});

async function serve(url) {
  const { open, extended } = sdk === 'a2a-v1' ? await cardsOfV1(url) : oldCards(url);
  const handler = new server.DefaultRequestHandler(open, new server.InMemoryTaskStore(), agent,
    undefined, undefined, undefined, extended);
  if (sdk === 'a2a-v02') return new server.A2AExpressApp(handler).setupRoutes(app, '');
  const { agentCardHandler, jsonRpcHandler } = await import(`${sdk}/server/express`);
  const legacyCompat = { enabled: Boolean(profile.old) };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler, legacyCompat }));
  if (profile.gate) {
    app.use('/', (request, response, next) => (tokenOf(request) === asked.token ? next()
      : response.status(401).set('WWW-Authenticate', 'Bearer').json({ error: 'unauthenticated' })));
  }
  const userBuilder = async (request) => {
    const known = tokenOf(request) === asked.token;
    return { isAuthenticated: known, userName: known ? 'operator' : '' };
  };
  app.use('/', jsonRpcHandler({ requestHandler: handler, userBuilder, legacyCompat }));
}

const listener = app.listen(asked.port ?? 0, '127.0.0.1', async () => {
  const { port } = listener.address();
  await serve(`http://127.0.0.1:${port}/`);
  say({ port });
});
process.on('SIGTERM', () => process.exit(0));
