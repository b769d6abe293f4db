/** Why an alert was raised: the subject beside what it was matched with, and what changed since last time. */
import { Stack, Table, Text } from '@mantine/core'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { type Alert, explainErased, getAlertName } from './alert-queries.ts'
import { describeFinding, isFindings } from './finding-texts.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const shortenId = (id: string): string => (UUID.test(id) ? id.slice(-8) : id)

export function AlertExplanation({ alert }: { readonly alert: Alert }) {
  const { explanation, facts, changes } = alert
  return (
    <Stack gap="xs">
      <Text size="sm">{alert.is_erased ? explainErased(alert) : explanation.sentence}</Text>
      <MatchedFields fields={explanation.fields} />
      {explanation.references.length > 0 && (
        <Text size="xs" c="dimmed" className="break">
          {explanation.references
            .map(
              ({ kind, id, version }) =>
                `${toSentence(kind)} ${shortenId(id)}${version === null ? '' : `, version ${version}`}`,
            )
            .join(' · ')}
        </Text>
      )}
      {facts.length > 0 && (
        <dl className="facts">
          {facts
            .filter(({ name }) => name !== 'findings' || !isFindings(explanation.fields))
            .map(({ name, value }) => (
              <div key={name}>
                <dt>{toSentence(name)}</dt>
                <dd className="break">{value}</dd>
              </div>
            ))}
        </dl>
      )}
      {changes !== null && changes.length > 0 && (
        <Text size="sm" component="div">
          <b>Changed since {alert.previous_alert_id === null ? 'the report before' : 'it was closed'}:</b>
          <ul className="plain-list">
            {changes.map(({ name, before, after }) => (
              <li key={name}>
                {toSentence(name)}: {before ?? 'not there'} → {after ?? 'no longer there'}
              </li>
            ))}
          </ul>
        </Text>
      )}
      {changes?.length === 0 && (
        <Text size="sm">The facts are those of the closed alert; they were reported at a higher priority.</Text>
      )}
      <Text size="sm" c="dimmed">
        Reported {formatCount(alert.occurrences, 'time')} by {alert.source}
        {alert.rule_code !== null && `, rule ${alert.rule_code}`}.
      </Text>
      <details>
        <summary>
          <Text span size="xs" c="dimmed">
            Technical details
          </Text>
        </summary>
        <Text size="xs" c="dimmed" component="div" className="break">
          Key of the match: <CopyValue value={alert.dedup_key} name="the key of the match" />
        </Text>
      </details>
      {alert.previous_alert_id !== null && (
        <PageLink to={`/inbox/alerts/${alert.previous_alert_id}`} size="sm">
          Earlier: {getAlertName(alert.previous_alert_id)}
        </PageLink>
      )}
    </Stack>
  )
}

/** Findings of a source contract in words, and what else was matched beside the subject. */
function MatchedFields({ fields }: { readonly fields: Alert['explanation']['fields'] }) {
  if (isFindings(fields))
    return (
      <ul aria-label="Findings">
        {fields.map(({ name, matched_value }) => (
          <li key={matched_value ?? name}>
            <Text size="sm" component="span">
              {describeFinding(matched_value ?? name)}
            </Text>
          </li>
        ))}
      </ul>
    )
  if (fields.length === 0) return null
  return (
    <PlainTable label="Side by side" empty={null} head={[{ name: 'Field' }, { name: 'Subject' }, { name: 'Matched' }]}>
      {fields.map(({ name, subject_value, matched_value, agrees }) => (
        <Table.Tr key={name} className={agrees === true ? 'agrees' : undefined}>
          <Table.Th scope="row" fw={500}>
            {name}
            {agrees !== null && (
              <Text span size="xs" c="dimmed" display="block">
                {agrees ? 'agrees' : 'differs'}
              </Text>
            )}
          </Table.Th>
          <Table.Td className="break">{subject_value ?? '–'}</Table.Td>
          <Table.Td className="break">{matched_value ?? '–'}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}
