/** Wire contract of change requests. */
import { ChangeRequestView } from '#kernel/request/approval.ts'
import { changeRequestStates } from '#kernel/request/queries.ts'
import { VisibleChangeRequest } from '#kernel/request/visibility.ts'
import { closed, Id, listOf, oneOf, pageOf, pageQuery, reasonText, Slug, Type, text } from '#kernel/schema.ts'

export const ChangeRequestPage = pageOf(VisibleChangeRequest)
/** Not redacted: the inbox holds only what the caller may approve. */
export const ChangeRequestInboxPage = pageOf(ChangeRequestView)
export const ChangeRequestParams = closed({ cr_id: Id() })
export const ChangeRequestQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(changeRequestStates)),
  action: Type.Optional(Slug()),
})
export const ApprovalGates = closed(
  {
    cr_id: Id(),
    items: listOf(
      closed(
        {
          gate: text(50, {
            description:
              'unchanged, author, frozen (archived since), execution (it would be refused), impact, or that of another review.',
          }),
          holds: Type.Boolean(),
          detail: text(2000, { description: 'In words.' }),
        },
        { title: 'ApprovalGate' },
      ),
      50,
    ),
  },
  { title: 'ApprovalGates' },
)
export const InboxQuery = closed(pageQuery)
export const Decision = closed({ note: Type.Optional(text(2000)) })
export const Rejection = closed({ reason: reasonText(2000) })
