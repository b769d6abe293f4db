/** Calls operations of a server in the same process. */
import type { HttpServer } from '#kernel/http/server.ts'
import type { CallOptions, Reply } from './test-app.ts'

export const createCaller =
  ({ app }: Pick<HttpServer, 'app'>) =>
  async (at: string, options: CallOptions = {}): Promise<Reply> => {
    const { token, body, headers = {}, payload, address } = options
    const [method, url] = at.split(' ') as ['GET', string]
    const content = body === undefined ? payload : JSON.stringify(body)
    const reply = await app.inject({
      method,
      url: url.startsWith('/api/') ? url : `/api${url}`,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content !== undefined && { payload: content }),
      ...(address !== undefined && { remoteAddress: address }),
    })
    const isJson = /^application\/(problem\+)?json/.test(String(reply.headers['content-type']))
    const json = isJson ? reply.json() : undefined
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, bytes: reply.rawPayload, json }
  }
