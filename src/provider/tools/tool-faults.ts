/** Why a tool server gave no usable answer: fixed words, never a text of the server. */
import type { EgressFault } from '#kernel/egress/faults.ts'

export const toolFaults = {
  unauthorized: 'the server does not accept the credential',
  rate_limited: 'the server asks to wait',
  status_unexpected: 'the status of the response is not one of the protocol',
  media_type_unexpected: 'the response is neither JSON nor an event stream',
  message_invalid: 'the response has no message that can be read',
  response_missing: 'the response has no message with the id of the request',
  negotiation_failed: 'the server speaks no version of the protocol that this client speaks',
  protocol_error: 'the server answered with an error of the protocol',
  result_invalid: 'the result does not have the form that the protocol prescribes',
  too_many_pages: 'the list of tools has more pages than allowed',
  cursor_repeated: 'the list of tools leads back to a page that was read',
  too_many_tools: 'the server lists more tools than allowed',
  input_required: 'the server asks for more input, which this client never gives',
  tool_error: 'the tool reports that it failed',
  content_missing: 'the result has no structured content',
} as const
export type ToolFault = keyof typeof toolFaults

export class ToolServerFailed extends Error {
  override readonly name = 'ToolServerFailed'
  readonly fault: ToolFault | EgressFault
  readonly http_status: number | null
  readonly retry_after: string | undefined
  /** False: no byte of the call of the tool was sent, whatever was sent before it. */
  call_sent = false

  constructor(
    fault: ToolFault | EgressFault,
    details: { readonly http_status?: number; readonly retry_after?: string | undefined } = {},
  ) {
    super(fault)
    this.fault = fault
    this.http_status = details.http_status ?? null
    this.retry_after = details.retry_after
  }
}
