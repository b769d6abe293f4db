/** Which request headers callers may set, and what a header value may hold. */

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** They frame the message, belong to the connection or the client, or would carry a session. */
const reservedHeaders = new Set([
  // An object cannot have it as an ordinary member.
  '__proto__',
  // The client decodes what it has asked for.
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** They describe the body, the client or the answer that is wanted, or authenticate the client. */
const describingHeaders = new Set([
  'accept',
  'accept-charset',
  'accept-language',
  'authorization',
  'cache-control',
  'content-encoding',
  'content-type',
  'date',
  'user-agent',
])

/** A header that can carry neither a credential nor a key of the caller's choice. */
export const hasOwnMeaning = (name: string): boolean => describingHeaders.has(name.toLowerCase())

export const isAllowedHeader = (name: string): boolean =>
  HEADER_NAME.test(name) && !reservedHeaders.has(name.toLowerCase())

export const isHeaderValue = (value: string): boolean => HEADER_VALUE.test(value)
