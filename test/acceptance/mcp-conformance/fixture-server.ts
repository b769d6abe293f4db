/**
 * The fixture server of the public conformance suite: the tools, resources and prompts that its scenarios call by name, served by
 * the transport of the product, with the product's Host and Origin checks.
 */
import http from 'node:http'
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { assertOwnOrigin } from '#kernel/http/origin-guard.ts'
import { ProtocolTransport } from '#modules/mcp/index.ts'

const INVALID_PARAMS = -32_602
/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
/** A header without samples. */
const WAV = Buffer.from(
  'RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0',
  'latin1',
).toString('base64')

const states = createRequestStateCodec<{ step: number }>({ key: 'a key of the conformance fixture, 32 bytes' })

type Handler = (ctx: ServerContext, given: Readonly<Record<string, unknown>>) => unknown

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const getCapabilities = (ctx: ServerContext): Readonly<Record<string, unknown>> =>
  ((ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
    {}) as Readonly<Record<string, unknown>>

const askFor = (message: string, name: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } as { type: 'string' } }, required: [name] },
  })
const askModel = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  })
const getAnswer = (ctx: ServerContext, key: string) => acceptedContent(ctx.mcpReq.inputResponses, key)

const inputTools: Readonly<Record<string, Handler>> = {
  test_input_required_result_elicitation: (ctx) => {
    const name = getAnswer(ctx, 'user_name')?.['name']
    if (typeof name === 'string') return text(`Hello, ${name}!`)
    return inputRequired({ inputRequests: { user_name: askFor('What is your name?', 'name') } })
  },
  test_input_required_result_sampling: (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'capital_question')
    if (answer.kind === 'sampling') return text(JSON.stringify(answer.result.content))
    return inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?', 100) } })
  },
  test_input_required_result_list_roots: (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'client_roots')
    if (answer.kind === 'roots') return text(`Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`)
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  },
  test_input_required_result_request_state: async (ctx) => {
    if (ctx.mcpReq.requestState<{ step: number }>()?.step === 1 && getAnswer(ctx, 'confirm')) return text('state-ok')
    return inputRequired({
      inputRequests: { confirm: askFor('Please confirm', 'ok', 'boolean') },
      requestState: await states.mint({ step: 1 }),
    })
  },
  test_input_required_result_multiple_inputs: async (ctx) => {
    const name = getAnswer(ctx, 'user_name')?.['name']
    const greeting = inputResponse(ctx.mcpReq.inputResponses, 'greeting')
    const roots = inputResponse(ctx.mcpReq.inputResponses, 'client_roots')
    if (name !== undefined && greeting.kind === 'sampling' && roots.kind === 'roots') {
      return text(`${JSON.stringify(greeting.result.content)} ${name}, ${roots.roots.length} roots`)
    }
    return inputRequired({
      inputRequests: {
        user_name: askFor('What is your name?', 'name'),
        greeting: askModel('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ step: 1 }),
    })
  },
  test_input_required_result_multi_round: async (ctx) => {
    const step = ctx.mcpReq.requestState<{ step: number }>()?.step
    if (step === 2 && getAnswer(ctx, 'step2')) return text('Both steps are complete.')
    if (step === 1 && getAnswer(ctx, 'step1')) {
      return inputRequired({
        inputRequests: { step2: askFor('Step 2: What is your favorite color?', 'color') },
        requestState: await states.mint({ step: 2 }),
      })
    }
    return inputRequired({
      inputRequests: { step1: askFor('Step 1: What is your name?', 'name') },
      requestState: await states.mint({ step: 1 }),
    })
  },
  test_input_required_result_tampered_state: async (ctx) => {
    if (ctx.mcpReq.requestState<{ step: number }>() !== undefined) return text('state-ok')
    return inputRequired({
      inputRequests: { confirm: askFor('Please confirm', 'ok', 'boolean') },
      requestState: await states.mint({ step: 1 }),
    })
  },
  test_input_required_result_capabilities: (ctx) => {
    const held = getCapabilities(ctx)
    return inputRequired({
      inputRequests: {
        ...('elicitation' in held && { user_name: askFor('What is your name?', 'name') }),
        ...('sampling' in held && { greeting: askModel('Generate a greeting', 50) }),
        ...('roots' in held && { client_roots: inputRequired.listRoots() }),
      },
      requestState: 'none',
    })
  },
}

/** With every keyword that must be listed as it was declared. */
const inputSchemas: Readonly<Record<string, { type: 'object'; [keyword: string]: unknown }>> = {
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
}

const createTools = (transport: () => ProtocolTransport<object>): Readonly<Record<string, Handler>> => ({
  ...inputTools,
  json_schema_2020_12_tool: () => text('A tool whose schema is listed.'),
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  }),
  test_error_handling: () => ({ isError: true, ...text('This tool intentionally returns an error for testing') }),
  test_tool_with_progress: async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      }
      await pause(50)
    }
    return text('The work is done.')
  },
  test_tool_with_logging: async (ctx) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', line)
      await pause(50)
    }
    return text('Three lines were logged.')
  },
  test_logging_tool: async (ctx) => {
    await ctx.mcpReq.log('info', 'A line that only a client gets that asked for it')
    return text('logged')
  },
  test_streaming_elicitation: (ctx) =>
    getAnswer(ctx, 'user_name')
      ? text('answered')
      : inputRequired({ inputRequests: { user_name: askFor('What is your name?', 'name') } }),
  test_missing_capability: (ctx) => {
    if ('sampling' in getCapabilities(ctx)) return text('sampling is declared')
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  },
  test_trigger_tool_change: () => {
    transport().notify.toolsChanged()
    return text('changed')
  },
  test_trigger_prompt_change: () => {
    transport().notify.promptsChanged()
    return text('changed')
  },
})

const resources: Readonly<Record<string, { mimeType: string; text?: string; blob?: string }>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
}

function readResource(uri: string) {
  const known = resources[uri]
  if (known) return { contents: [{ uri, ...known }] }
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
  if (id === undefined) throw new ResourceNotFoundError(uri)
  const content = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { contents: [{ uri, mimeType: 'application/json', text: content }] }
}

const message = (content: object) => ({ role: 'user', content })
const prompts: Readonly<Record<string, { arguments: string[]; get: Handler }>> = {
  test_simple_prompt: {
    arguments: [],
    get: () => ({ messages: [message({ type: 'text', text: 'This is a simple prompt for testing.' })] }),
  },
  test_prompt_with_arguments: {
    arguments: ['arg1', 'arg2'],
    get: (_, { arg1, arg2 }) => ({
      messages: [message({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
    }),
  },
  test_prompt_with_embedded_resource: {
    arguments: ['resourceUri'],
    get: (_, { resourceUri }) => ({
      messages: [
        message({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        message({ type: 'text', text: 'Please process the embedded resource above.' }),
      ],
    }),
  },
  test_prompt_with_image: {
    arguments: [],
    get: () => ({
      messages: [
        message({ type: 'image', data: PNG, mimeType: 'image/png' }),
        message({ type: 'text', text: 'Please analyze the image above.' }),
      ],
    }),
  },
  test_input_required_result_prompt: {
    arguments: [],
    get: (ctx) => {
      const context = getAnswer(ctx, 'user_context')?.['context']
      if (context !== undefined) return { messages: [message({ type: 'text', text: `Use the context ${context}` })] }
      return inputRequired({
        inputRequests: { user_context: askFor('What context should the prompt use?', 'context') },
      })
    },
  },
}

function createFixtureServer(tools: Readonly<Record<string, Handler>>): Server {
  const server = new Server(
    { name: 'probity-conformance', version: '1' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: {},
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      cacheHints: { 'tools/list': { ttlMs: 1000, cacheScope: 'private' } },
      requestState: { verify: (state, ctx) => (state === 'none' ? undefined : states.verify(state, ctx)) },
    },
  )
  server.setRequestHandler('tools/list', async () => ({
    tools: Object.keys(tools).map((name) => ({
      name,
      description: `Fixture ${name}`,
      inputSchema: inputSchemas[name] ?? { type: 'object' as const },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = tools[params.name]
    if (!tool) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`)
    return (await tool(ctx, params.arguments ?? {})) as never
  })
  server.setRequestHandler('resources/list', async () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      uri,
      name: uri.slice(7),
      mimeType,
    })),
  }))
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }))
  server.setRequestHandler('resources/read', async ({ params }) => readResource(params.uri) as never)
  server.setRequestHandler('prompts/list', async () => ({
    prompts: Object.entries(prompts).map(([name, { arguments: taken }]) => ({
      name,
      description: `Fixture ${name}`,
      arguments: taken.map((argument) => ({ name: argument, description: `Fixture ${argument}`, required: true })),
    })),
  }))
  server.setRequestHandler('prompts/get', async ({ params }, ctx) => {
    const prompt = prompts[params.name]
    if (!prompt) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${params.name}`)
    return (await prompt.get(ctx, params.arguments ?? {})) as never
  })
  server.setRequestHandler('completion/complete', async ({ params }) => ({
    completion: {
      values: ['paris', 'park', 'party'].filter((word) => word.startsWith(params.argument.value)),
      hasMore: false,
    },
  }))
  return server
}

export async function startFixtureServer(port: number): Promise<http.Server> {
  const transport = new ProtocolTransport<object>(() => createFixtureServer(tools), 16)
  const tools = createTools(() => transport)
  const server = http.createServer((request, response) => {
    answer(transport, request, response).catch((error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server
}

async function answer(
  transport: ProtocolTransport<object>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const refuse = (status: number, code: number, reason: string) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: reason } }))
  try {
    assertOwnOrigin(request.headers, null, { allows: () => false })
  } catch {
    refuse(403, -32_600, 'Host or Origin is not allowed')
    return
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end()
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    refuse(400, -32_700, 'Parse error')
    return
  }
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  const reply = await transport.handle({ message: parsed, headers: request.headers, signal: abort.signal }, {})
  response.writeHead(reply.status, reply.headers)
  if (typeof reply.body !== 'object') {
    response.end(reply.body)
    return
  }
  for await (const chunk of reply.body) response.write(chunk)
  response.end()
}
