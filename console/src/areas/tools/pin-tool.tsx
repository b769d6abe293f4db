/** Pins the definition that was reviewed, by its hash. Replacing a pin needs another compliance officer. */
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import type { ServerTool } from '#console/ui/tool/tool-texts.ts'

export function PinTool({ tool }: { readonly tool: ServerTool }) {
  const [isOpen, dialog] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const queries = useQueryClient()
  const { server_key, tool_name, offered_hash } = tool
  const isAgain = tool.pinned !== null
  const pin = useApiMutation(
    () =>
      probity.PUT('/api/mcp/servers/{server_key}/tools/{tool_name}/pin', {
        params: { path: { server_key, tool_name } },
        body: { definition_hash: offered_hash ?? '', reason },
      }),
    { invalidates: ['tool-servers'], successMessage: `${tool_name} pinned`, onDone: close },
  )
  function close() {
    setReason('')
    pin.reset()
    dialog.close()
  }
  return (
    <>
      <Button onClick={dialog.open}>{isAgain ? 'Pin again' : 'Pin'}</Button>
      <FormDialog
        title={`Pin ${tool_name}`}
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => pin.run(undefined)}
        submit={isAgain ? 'Ask for approval' : 'Pin'}
        change={pin}
        onReload={() => queries.invalidateQueries({ queryKey: ['tool-servers'] })}
        size="lg"
      >
        <Text size="sm">
          Providers may call the tool from then on, as long as the server offers exactly this definition.
          {isAgain && ' It replaces a pin, so another compliance officer must approve it.'}
        </Text>
        <Text size="xs" c="dimmed" className="mono break">
          {offered_hash}
        </Text>
        <ReasonField isFirst label="What you reviewed" value={reason} onChange={setReason} />
        <ApprovalNote request={pin.waiting} />
      </FormDialog>
    </>
  )
}
