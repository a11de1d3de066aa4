// The official A2A client reading whom a door names.
//
//   node reader.mjs '{"client":"v1","url":"http://127.0.0.1:4000","token":"t"}'
//
// client: "v1" (1.0 wire), "v1-old" (the 1.0 client's 0.3 wire), "v03" (the 0.3 client).
// Prints {"session":...,"protocol":...} or {"error":...}.
const asked = JSON.parse(process.argv[2]);
const uri = asked.uri ?? 'urn:rollcall:ext:session:1';
const withToken = (url, init = {}) => fetch(url, { ...init,
  headers: { ...init.headers, ...(asked.token ? { Authorization: `Bearer ${asked.token}` } : {}) } });

async function clientOfV1(old) {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } = await import('a2a-v1/client');
  const legacyCompat = { enabled: old };
  const resolver = new DefaultAgentCardResolver({ legacyCompat,
    // Asks for the 0.3 card, and leaves of it what a 0.3 server would have sent.
    ...(old ? { fetchImpl: async (url) => {
      const response = await fetch(url, { headers: { 'A2A-Version': '0.3' } });
      const { supportedInterfaces, ...card } = await response.json();
      return Response.json(card);
    } } : {}) });
  const factory = new ClientFactory({ cardResolver: resolver,
    transports: [new JsonRpcTransportFactory({ fetchImpl: withToken, legacyCompat })] });
  return factory.createFromUrl(asked.url);
}

async function clientOfV03() {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } = await import('a2a-v03/client');
  const factory = new ClientFactory({ cardResolver: new DefaultAgentCardResolver(),
    transports: [new JsonRpcTransportFactory({ fetchImpl: withToken })] });
  return factory.createFromUrl(asked.url);
}

try {
  const client = await (asked.client === 'v03' ? clientOfV03() : clientOfV1(asked.client === 'v1-old'));
  const card = await client.getAgentCard();
  const named = card.capabilities?.extensions?.find((extension) => extension.uri === uri);
  const session = named?.params?.sessionId ?? null;
  const protocol = client.protocolVersion ?? card.protocolVersion;
  process.stdout.write(`${JSON.stringify({ session, protocol })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: `${error.name}: ${error.message}` })}\n`);
}
