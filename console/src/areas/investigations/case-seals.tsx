/** The seals of a case that was closed and opened again: each stays valid and has a package of its own. */
import { Anchor, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ReadDialog } from '#console/ui/dialog.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { PackButton } from './case-pack.tsx'
import { type Investigation, listSeals, sealQuery } from './investigation-queries.ts'

interface CaseSealsProps {
  readonly investigation: Investigation
}

/** Seals beside the one whose package the header of a closed case offers. */
const countOthers = ({ seals, state }: Investigation): number => (state === 'closed' ? seals - 1 : seals)

export function CaseSeals({ investigation }: CaseSealsProps) {
  const may = usePermission()
  const [isOpen, dialog] = useDisclosure(false)
  const count = countOthers(investigation)
  if (count < 1 || !may('getInvestigationSeal')) return null
  return (
    <span>
      <Anchor component="button" type="button" inherit onClick={dialog.open}>
        {formatCount(count, 'earlier seal')}
      </Anchor>
      {isOpen && <SealList investigation={investigation} onClose={dialog.close} />}
    </span>
  )
}

function SealList({ investigation, onClose }: CaseSealsProps & { readonly onClose: () => void }) {
  const { data, error } = useQuery(sealQuery(investigation.investigation_id))
  return (
    <ReadDialog title={`Seals of ${investigation.reference}`} onClose={onClose} size="lg">
      <Text size="sm">
        Each time the case was closed it was sealed as it was then. Opening it again changes no seal.
      </Text>
      <ProblemNote problem={isProblem(error) ? error : null} />
      {data === undefined && error === null && <ListSkeleton />}
      <ol className="case-timeline" aria-label="Seals, newest first">
        {data &&
          listSeals(data).map(({ seal_no, manifest_hash, sealed_at, sealed_by }) => (
            <li key={seal_no}>
              <Stack gap={6} align="flex-start">
                <Text size="sm" component="div">
                  <b>Seal {seal_no}</b>, <DateTime at={sealed_at} />, by <Principal of={sealed_by} isAlwaysNamed />
                </Text>
                <CopyValue value={manifest_hash} name={`the hash of seal ${seal_no}`} />
                <PackButton investigation={investigation} seal_no={seal_no} isSmall />
              </Stack>
            </li>
          ))}
      </ol>
    </ReadDialog>
  )
}
