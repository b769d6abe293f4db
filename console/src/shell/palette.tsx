/** The command palette (Ctrl-K): finds an area by name or description. */
import { Kbd, Modal, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import type { Area } from '#console/areas.ts'
import { Icon } from '#console/ui/icons.tsx'
import { useVisibleAreas } from './navigation.tsx'

export function Palette() {
  const [isOpen, setOpen] = useState(false)
  useHotkeys([['mod+K', () => setOpen(true)]], [])
  return (
    <>
      <UnstyledButton className="find" onClick={() => setOpen(true)} aria-haspopup="dialog" aria-label="Find an area">
        <Icon name="search" size={16} />
        <Text span size="sm" visibleFrom="sm">
          Find
        </Text>
        <Kbd size="xs" visibleFrom="sm" aria-hidden>
          Ctrl K
        </Kbd>
      </UnstyledButton>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        withCloseButton={false}
        padding="xs"
        yOffset="12vh"
        attributes={{ content: { 'aria-label': 'Find an area' } }}
        transitionProps={{ duration: 100 }}
      >
        <Finder onLeave={() => setOpen(false)} />
      </Modal>
    </>
  )
}

function matching(areas: readonly Area[], text: string): readonly Area[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const score = ({ title, about, group }: Area): number => {
    const haystack = `${title} ${group ?? ''} ${about}`.toLowerCase()
    if (!words.every((word) => haystack.includes(word))) return 0
    return words.every((word) => title.toLowerCase().includes(word)) ? 2 : 1
  }
  return areas.filter((area) => score(area) > 0).sort((one, two) => score(two) - score(one))
}

function Finder({ onLeave }: { readonly onLeave: () => void }) {
  const navigate = useNavigate()
  const listId = useId()
  const [text, setText] = useState('')
  const [place, setPlace] = useState(0)
  const found = matching(useVisibleAreas(), text)
  const chosen = found[Math.min(place, found.length - 1)]

  function open(area: Area | undefined) {
    if (area === undefined) return
    onLeave()
    navigate({ to: area.path })
  }
  function steer(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') open(chosen)
    if (step === undefined || found.length === 0) return
    event.preventDefault()
    setPlace((now) => (Math.min(now, found.length - 1) + step + found.length) % found.length)
  }

  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label="Find an area"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={chosen ? `${listId}-${chosen.path}` : undefined}
        placeholder="Search for an area"
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setPlace(0)
        }}
        onKeyDown={steer}
        leftSection={<Icon name="search" />}
      />
      <div role="listbox" id={listId} aria-label="Areas" className="finder">
        {found.map((area) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field that keeps the focus
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
          <div
            key={area.path}
            role="option"
            id={`${listId}-${area.path}`}
            aria-selected={area === chosen}
            onClick={() => open(area)}
          >
            <Icon name={area.icon} />
            <span>{area.title}</span>
            <span className="quiet">{area.about}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <Text size="sm" c="dimmed" p="xs" role="status">
          No matching area.
        </Text>
      )}
    </>
  )
}
