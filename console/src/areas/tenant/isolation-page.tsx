/** The tenant isolation check: attempts to access rows of another tenant, and what the database returned. */
import { Alert, Button, Group, Stack, Table, Text, Tooltip } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { saveJson, toFileTimestamp } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { TenantFrame } from './tenant-frame.tsx'

type Proof = Schemas['IsolationProof']
type Probe = Proof['tables'][number]['probes'][number]

export default function IsolationPage() {
  const may = usePermission()
  const [proof, setProof] = useState<Proof | null>(null)
  const check = useApiMutation(() => probity.POST('/api/tenant/isolation-checks'), {
    invalidates: [],
    onDone: setProof,
  })
  return (
    <TenantFrame>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start">
          <Text size="sm" maw={640}>
            The check tries to read, change, delete and insert rows of another tenant in every table, with the database
            role of the application. Every attempt is rolled back; the responses of the database are the evidence.
          </Text>
          {may('checkIsolation') && (
            <Button loading={check.isRunning} onClick={() => check.run(undefined)}>
              Run isolation check
            </Button>
          )}
        </Group>
        {!may('checkIsolation') && <Text size="sm">An administrator or an auditor can run the check.</Text>}
        <ProblemNote problem={check.problem} />
        {proof && <ProofView proof={proof} />}
      </Stack>
    </TenantFrame>
  )
}

function ProofView({ proof }: { readonly proof: Proof }) {
  const { database_role: role } = proof
  return (
    <>
      <Alert
        color={proof.passed ? 'teal' : 'red'}
        title={proof.passed ? 'Tenant isolation verified' : 'Tenant isolation violated'}
        icon={<Icon name={proof.passed ? 'check' : 'warning'} />}
        role="status"
      >
        {formatCount(proof.probes, 'attempt')} on {formatCount(proof.tables.length, 'table')},{' '}
        {proof.failed === 0 ? 'none succeeded' : `${proof.failed} succeeded`}.
      </Alert>
      <Section title="Evidence" actions={<Download proof={proof} />}>
        <Facts
          of={[
            ['Checked', <DateTime key="at" at={proof.checked_at} />],
            [
              'Tenant',
              <span key="own" className="mono">
                {proof.tenant_id}
              </span>,
            ],
            [
              'Other tenant',
              <span key="canary" className="mono">
                {proof.canary_tenant_id}
              </span>,
            ],
            [
              'Database role',
              `${role.name}: ${role.superuser ? 'superuser' : 'not a superuser'}, ${
                role.bypasses_row_security ? 'bypasses row-level security' : 'subject to row-level security'
              }, ${role.owns_tables ? 'owns tables' : 'owns no tables'}`,
            ],
            ['Policies', <CopyValue key="digest" value={proof.policies_sha256} name="the digest of the policies" />],
          ]}
        />
      </Section>
      <ProbeTable proof={proof} />
    </>
  )
}

/** Probes whose wire name is not what users call them. */
const probeLabels: Readonly<Record<string, string>> = { plant: 'Insert', remove: 'Delete' }

function ProbeTable({ proof }: { readonly proof: Proof }) {
  const names = [...new Set(proof.tables.flatMap(({ probes }) => probes.map(({ probe }) => probe)))]
  return (
    <div className="table-card table-wide">
      <Table aria-label="Attempts by table" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Table</Table.Th>
            {names.map((name) => (
              <Table.Th key={name}>{probeLabels[name] ?? toSentence(name)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {proof.tables.map(({ table, probes }) => (
            <Table.Tr key={table}>
              <Table.Td className="mono">{table}</Table.Td>
              {names.map((name) => (
                <Table.Td key={name}>
                  <Outcome probe={probes.find(({ probe }) => probe === name)} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

function Outcome({ probe }: { readonly probe: Probe | undefined }) {
  if (probe === undefined) return null
  return (
    <Tooltip label={`${probe.attempt}: expected ${probe.expected}, observed ${probe.observed}`}>
      <Text span size="sm" c={probe.passed ? 'teal' : 'red'} fw={probe.passed ? undefined : 700}>
        <Icon name={probe.passed ? 'check' : 'cross'} size={12} /> {probe.observed}
      </Text>
    </Tooltip>
  )
}

/** Downloads the evidence as JSON. */
function Download({ proof }: { readonly proof: Proof }) {
  const save = () => saveJson(`isolation-proof-${toFileTimestamp(proof.checked_at)}.json`, proof)
  return (
    <Button size="xs" variant="default" onClick={save}>
      Download
    </Button>
  )
}
