/** The draft of a source contract: its parts with findings beside them, and a tester for payloads. */
import './source-contracts.css'
import '#console/ui/decision/decision.css'
import { Button, Group, Stack, Text } from '@mantine/core'
import { usePermission } from '#console/session/queries.ts'
import { contractKind, type DefinitionText } from '#console/ui/decision/definition-kind.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { DraftBar, DraftFrame, useStoredDraft } from '#console/ui/definition/draft-frame.tsx'
import { scrollToPointer } from '#console/ui/definition/editor/scroll-to-pointer.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { type Contract, parseContract } from './contract-model.ts'
import { ContractParts } from './contract-parts.tsx'
import { PayloadTester, type TestedPayload } from './payload-tester.tsx'

export default function ContractDraftPage() {
  return (
    <DraftFrame kind={contractKind}>
      {(contract_key, stored) => <Editor key={contract_key} contract_key={contract_key} stored={stored} />}
    </DraftFrame>
  )
}

interface EditorProps {
  readonly contract_key: string
  readonly stored: DefinitionText
}

function Editor({ contract_key, stored }: EditorProps) {
  const may = usePermission()
  const edited = useStoredDraft<Contract>({
    kind: contractKind,
    definition_key: contract_key,
    stored,
    parse: parseContract,
    toDefinition: (draft) => draft,
  })
  const { draft, setDraft, findings, isChanged, save, store } = edited
  const canEdit = may('updateSourceContractDraft')
  return (
    <Stack gap="md">
      <DraftBar
        kind={contractKind}
        definition_key={contract_key}
        draft={edited}
        publishing="The draft is checked with the lists in force, and every example and counter-example is tried."
      />
      <ProblemNote problem={save.problem} onReload={() => window.location.reload()} />
      <Findings findings={findings} title="Findings" onShow={scrollToPointer} />
      <div className="editor-columns">
        <ContractParts draft={draft} findings={findings} onEdit={setDraft} isReadOnly={!canEdit} />
        <div className="tester">
          {may('checkSourceContractPayload') && (
            <PayloadTester
              title="Test a payload"
              contract_key={contract_key}
              version="draft"
              contract={draft}
              submit={isChanged && canEdit ? 'Save and check payload' : 'Check payload'}
              beforeCheck={async () => {
                if (isChanged && canEdit) await store()
              }}
              {...(canEdit && {
                renderActions: (tested) => <AddExample draft={draft} tested={tested} onEdit={setDraft} />,
              })}
            />
          )}
        </div>
      </div>
    </Stack>
  )
}

interface AddExampleProps {
  readonly draft: Contract
  readonly tested: TestedPayload
  readonly onEdit: (draft: Contract) => void
}

/** A checked payload becomes an example, or a counter-example with the places at which it was refused. */
function AddExample({ draft, tested: { payload, check }, onEdit }: AddExampleProps) {
  const isKnown = (examples: readonly { readonly payload: unknown }[] = []) =>
    examples.some((example) => JSON.stringify(example.payload) === JSON.stringify(payload))
  if (isKnown(draft.examples) || isKnown(draft.counter_examples))
    return (
      <Text size="xs" c="dimmed">
        This payload is an example of the draft.
      </Text>
    )
  if (check.result !== 'quarantined')
    return (
      <Group>
        <Button
          size="xs"
          variant="light"
          onClick={() => onEdit({ ...draft, examples: [...(draft.examples ?? []), { payload }] })}
        >
          Add as example
        </Button>
      </Group>
    )
  const violates = [...new Set(check.violations.map(({ pointer }) => pointer))].slice(0, 20)
  return (
    <Group>
      <Button
        size="xs"
        variant="light"
        onClick={() =>
          onEdit({ ...draft, counter_examples: [...(draft.counter_examples ?? []), { payload, violates }] })
        }
      >
        Add as counter-example
      </Button>
    </Group>
  )
}
