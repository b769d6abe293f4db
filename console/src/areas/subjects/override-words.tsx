/** Why a rating was overridden, and by whom: the words and the person that proposed it, and who approved. */
import type { Schemas } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'

type Rating = Schemas['Rating']

/** The reason text is visible to some roles only; the title of the reason code to all. */
export function OverrideReason({ of: { reason, reason_code } }: { readonly of: Rating }) {
  if (reason === null && reason_code === null) return <>Set manually</>
  return (
    <>
      {reason !== null && <>“{reason}”</>}
      {reason_code !== null && (
        <>
          {reason !== null && ' ('}
          <ReasonCodes of={[reason_code]} />
          {reason !== null && ')'}
        </>
      )}
    </>
  )
}

/** Who proposed and who approved; of an override without a request, who set it. */
export function RatingAuthor({ of: { actor, proposed_by, cr_id } }: { readonly of: Rating }) {
  const may = usePermission()
  if (proposed_by === null)
    return (
      <>
        by <Principal of={actor} />
      </>
    )
  return (
    <>
      by <Principal of={proposed_by} />, approved by <Principal of={actor} />
      {cr_id !== null && may('getChangeRequest') && (
        <>
          {' '}
          (
          <PageLink to={`/change-requests/${cr_id}`} inherit>
            request
          </PageLink>
          )
        </>
      )}
    </>
  )
}
