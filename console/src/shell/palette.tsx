/** Search from anywhere (Ctrl-K): pages first, then subjects, lists, decisions and everything else the user may read. */

import { Kbd, Modal, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { Icon } from '#console/ui/icons.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { toSearch } from '#console/ui/search-link.tsx'
import { MAX_QUERY_CHARS } from '#console/ui/search-results.ts'
import { type Choice, type ChoiceGroup, useChoices } from './palette-choices.ts'

export function Palette() {
  const [isOpen, setOpen] = useState(false)
  useHotkeys([['mod+K', () => setOpen(true)]], [])
  return (
    <>
      <UnstyledButton className="find" onClick={() => setOpen(true)} aria-haspopup="dialog">
        <Icon name="search" size={16} />
        <span className="sr-only">Search</span>
        <Text span size="sm" visibleFrom="sm" aria-hidden>
          Search
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
        size="lg"
        yOffset="12vh"
        attributes={{ content: { 'aria-label': 'Search' } }}
        transitionProps={{ duration: 100 }}
      >
        <Finder onLeave={() => setOpen(false)} />
      </Modal>
    </>
  )
}

function Finder({ onLeave }: { readonly onLeave: () => void }) {
  const navigate = useNavigate()
  const listId = useId()
  const [text, setText] = useState('')
  const [chosenKey, setChosenKey] = useState<string | null>(null)
  const [isEntered, setEntered] = useState(false)
  const { groups, status, isSearching } = useChoices(text)
  const choices = groups.flatMap((group) => group.choices)
  const chosen = choices.find(({ key }) => key === chosenKey) ?? choices[0]
  const toOptionId = ({ key }: Choice) => `${listId}-${choices.findIndex((one) => one.key === key)}`
  const chosenId = chosen && toOptionId(chosen)

  useEffect(() => {
    if (chosenId) document.getElementById(chosenId)?.scrollIntoView({ block: 'nearest' })
  }, [chosenId])

  // Whoever types faster than the search answers gets the first of what it finds.
  useEffect(() => {
    if (!isEntered || isSearching) return
    setEntered(false)
    open(choices[0])
  })

  function open(choice: Choice | undefined) {
    if (choice === undefined) return
    choice.onOpen?.()
    onLeave()
    navigate({ to: choice.target.to, search: toSearch(choice.target.search ?? {}) })
  }
  function steer(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter' && chosen === undefined) setEntered(isSearching)
    else if (event.key === 'Enter') open(chosen)
    if (step === undefined || chosen === undefined) return
    event.preventDefault()
    const next = choices[(choices.indexOf(chosen) + step + choices.length) % choices.length]
    setChosenKey(next?.key ?? null)
  }

  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-label="Search"
        aria-expanded={choices.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosenId}
        placeholder="Search by name, id or key, or go to a page"
        autoComplete="off"
        maxLength={MAX_QUERY_CHARS}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosenKey(null)
          setEntered(false)
        }}
        onKeyDown={steer}
        leftSection={<Icon name="search" />}
      />
      <div role="listbox" id={listId} aria-label="Results" className="finder">
        {groups.map((group) => (
          <Group
            key={group.title}
            group={group}
            headingId={`${listId}-${group.title.replaceAll(' ', '-')}`}
            chosen={chosen}
            toOptionId={toOptionId}
            onOpen={open}
          />
        ))}
      </div>
      <Text size="sm" c="dimmed" p={status ? 'xs' : 0} role="status">
        {status}
      </Text>
    </>
  )
}

interface GroupProps {
  readonly group: ChoiceGroup
  readonly headingId: string
  readonly chosen: Choice | undefined
  readonly toOptionId: (choice: Choice) => string
  readonly onOpen: (choice: Choice) => void
}

function Group({ group, headingId, chosen, toOptionId, onOpen }: GroupProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset may not stand in a listbox
    <div role="group" aria-labelledby={headingId}>
      <div className="finder-heading" id={headingId}>
        {group.title}
      </div>
      {group.choices.map((choice) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field that keeps the focus
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
        <div
          key={choice.key}
          role="option"
          id={toOptionId(choice)}
          aria-selected={choice === chosen}
          onClick={() => onOpen(choice)}
        >
          <Icon name={choice.icon} />
          <span className="finder-title">{choice.title}</span>
          <span className="quiet">{choice.about}</span>
          {choice.restriction_id && <RestrictionMark restriction_id={choice.restriction_id} />}
        </div>
      ))}
    </div>
  )
}
