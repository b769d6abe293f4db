/** Step 1: creates a list of the tenant and imports the sample file into it. */

import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { isChangeRequest } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ButtonLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { formatPoints } from '#console/ui/points.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { datasetsQuery } from '#console/ui/registry-queries.ts'
import { saveFile } from '#console/ui/save-file.ts'
import { SAMPLE_FILE_NAME, SAMPLE_LIST, sampleBands, toSampleCsv } from './sample-list.ts'

/** The list may exist without a version, if an earlier attempt stopped between the two requests. */
async function importSample(isRegistered: boolean) {
  if (!isRegistered) {
    const created = await probity.POST('/api/reference-data/datasets', {
      body: { ...SAMPLE_LIST, description: 'Which score means which rating, and what follows from it.' },
    })
    if (isChangeRequest(created)) return created
  }
  const file = new File([toSampleCsv()], SAMPLE_FILE_NAME, { type: 'text/csv' })
  const { upload_id } = await probity.uploads.create(file)
  const job = await probity.POST('/api/reference-data/imports', {
    body: { list_key: SAMPLE_LIST.list_key, upload_id, adapter_key: 'csv', label: 'sample', on_unchanged: 'skip' },
  })
  return probity.jobs.wait(job.job_id)
}

export function ImportStep() {
  const { data: lists = [] } = useQuery({ ...datasetsQuery, throwOnError: false })
  const isRegistered = lists.some(({ list_key, origin }) => list_key === SAMPLE_LIST.list_key && origin === 'own')
  const bring = useApiMutation(() => importSample(isRegistered), {
    invalidates: ['datasets', 'imports', 'jobs'],
    successMessage: 'Risk bands imported as version 1',
  })
  return (
    <Stack gap="sm">
      <Text size="sm">
        The sample file holds the risk bands of a fictitious bank: from which score a customer is rated low, medium,
        high or prohibited.
      </Text>
      <PlainTable
        label="Sample file"
        empty={null}
        head={[
          { name: 'Band' },
          { name: 'Score (of 10,000 points)' },
          { name: 'Review every', from: 'sm' },
          { name: 'Due diligence' },
        ]}
      >
        {sampleBands.map((band) => (
          <Table.Tr key={band.band}>
            <Table.Td>{band.title}</Table.Td>
            <Table.Td>
              {formatPoints(band.from_bps)} to {formatPoints(band.to_bps)}
            </Table.Td>
            <Table.Td visibleFrom="sm">{formatCount(band.review_every_months, 'month')}</Table.Td>
            <Table.Td>{band.due_diligence}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      <ProblemNote problem={bring.problem} />
      <ApprovalNote request={bring.waiting} />
      <Group gap="xs">
        <Button loading={bring.isRunning} onClick={() => bring.run(undefined)}>
          Import the sample file
        </Button>
        <Button
          variant="default"
          onClick={() => saveFile(SAMPLE_FILE_NAME, new Blob([toSampleCsv()], { type: 'text/csv' }))}
        >
          Download it
        </Button>
        <ButtonLink to="/imports/new" variant="subtle">
          Import your own file instead
        </ButtonLink>
      </Group>
    </Stack>
  )
}
