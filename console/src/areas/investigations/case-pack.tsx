/** Downloads everything of a sealed case for an examiner. */
import { Button } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { readFile } from '#console/ui/read-file.ts'
import { saveFile } from '#console/ui/save-file.ts'
import type { Investigation } from './investigation-queries.ts'

export function CasePack({ investigation }: { readonly investigation: Investigation }) {
  const may = usePermission()
  const { investigation_id, reference, state } = investigation
  const pack = useApiMutation(
    () =>
      readFile(
        probity.raw.GET('/api/investigations/{investigation_id}/pack', {
          params: { path: { investigation_id } },
          headers: { accept: '*/*' },
          parseAs: 'blob',
        }),
      ),
    { invalidates: [], onDone: (bytes) => saveFile(`${reference}.zip`, bytes) },
  )
  if (state !== 'closed' || !may('getInvestigationPack')) return null
  return (
    <>
      <ProblemNote problem={pack.problem} />
      <Button
        variant="default"
        loading={pack.isRunning}
        title="Sealed and signed: “probity verify” checks it without a connection"
        onClick={() => pack.run(undefined)}
      >
        Examiner’s package
      </Button>
    </>
  )
}
