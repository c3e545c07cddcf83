// Log in to an MCP server as hosted clients and the Inspector's OAuth debugger do, by the official TypeScript SDK.
// Arguments: the folder of the SDK's modules, and the URL of the server. Prints what was discovered, and the tools.
const [modules, url] = process.argv.slice(2);
const { auth, discoverOAuthProtectedResourceMetadata, discoverAuthorizationServerMetadata } = await import(`${modules}/client/auth.js`);
const { Client } = await import(`${modules}/client/index.js`);
const { StreamableHTTPClientTransport } = await import(`${modules}/client/streamableHttp.js`);

const resource = await discoverOAuthProtectedResourceMetadata(url);
const issuer = await discoverAuthorizationServerMetadata(resource.authorization_servers[0]);

let client, tokens, verifier, code;
const provider = {
  redirectUrl: "http://127.0.0.1:6274/oauth/callback/debug",
  clientMetadata: { redirect_uris: ["http://127.0.0.1:6274/oauth/callback/debug"], token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], client_name: "MCP Inspector" },
  clientInformation: () => client,
  saveClientInformation: (one) => { client = one; },
  tokens: () => tokens,
  saveTokens: (some) => { tokens = some; },
  codeVerifier: () => verifier,
  saveCodeVerifier: (one) => { verifier = one; },
  redirectToAuthorization: async (address) => {
    const answer = await fetch(address, { redirect: "manual" });
    code = new URL(answer.headers.get("location")).searchParams.get("code");
  },
};
const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
let first = "connected";
try {
  await new Client({ name: "hosted", version: "1" }).connect(transport());
} catch (error) {
  first = error.constructor.name;
}
await auth(provider, { serverUrl: url, authorizationCode: code });
const connected = new Client({ name: "hosted", version: "1" });
await connected.connect(transport());
const { tools } = await connected.listTools();
await connected.close();
console.log(JSON.stringify({ first, resource, issuer: issuer.issuer, tools: tools.map((tool) => tool.name) }));
