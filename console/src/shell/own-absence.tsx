/** The absence of the signed-in user, for those too who may not open the page of a user. */
import { Skeleton } from '@mantine/core'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { AvailabilityForm } from '#console/ui/availability-form.tsx'
import { ReadDialog } from '#console/ui/dialog.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'

export function OwnAbsence({ user_id, onClose }: { readonly user_id: string; readonly onClose: () => void }) {
  const { data: absence, error } = useQuery({
    queryKey: ['users', 'availability', user_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/users/{user_id}/availability', { params: { path: { user_id } }, signal }),
    throwOnError: false,
  })
  return (
    <ReadDialog title="Absence" size="lg" onClose={onClose}>
      {absence ? (
        <AvailabilityForm
          key={`${absence.away_from} ${absence.away_until} ${absence.away_reason}`}
          user={absence}
          onSaved={onClose}
        />
      ) : (
        <>
          <ProblemNote problem={isProblem(error) ? error : null} />
          {error === null && <Skeleton height={120} />}
        </>
      )}
    </ReadDialog>
  )
}
