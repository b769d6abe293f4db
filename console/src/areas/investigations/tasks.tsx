/** Tasks of people in a case, with what each person confirms. */
import { Button, Checkbox, Group, Stack, Text, Title } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useEffect, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { type ApiMutation, useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { toWords } from '#console/ui/format.ts'
import { toInstant } from '#console/ui/local-time.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { TextField, TimeField } from '#console/ui/text-field.tsx'
import { CaseAuthor } from './case-author.tsx'
import { describeNotNeeded, isNotNeeded, TaskState } from './case-badges.tsx'
import { toTaskElement } from './case-pointers.ts'
import { type Investigation, isOpen, tasksQuery, touched, useListOfCase } from './investigation-queries.ts'
import { ChecklistField, RequiredField } from './task-fields.tsx'

type Task = Schemas['InvestigationTask']

export function Tasks({ investigation }: { readonly investigation: Investigation }) {
  const may = usePermission()
  const [isAdding, setAdding] = useState(false)
  const { investigation_id } = investigation
  const tasks = useListOfCase(tasksQuery(investigation_id), investigation)
  const canWork = isOpen(investigation) && may('updateInvestigationTask')
  return (
    <section aria-labelledby="tasks">
      <Group justify="space-between" gap="xs" mb="xs">
        <Title order={2} size="h5" id="tasks" tabIndex={-1}>
          Tasks
        </Title>
        {canWork && (
          <Button size="compact-xs" variant="default" aria-label="Add a task" onClick={() => setAdding(true)}>
            Add
          </Button>
        )}
      </Group>
      {tasks?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No tasks yet. Steps of the playbook add theirs when it is their turn.
        </Text>
      )}
      <ul className="plain-list case-tasks">
        {tasks?.items.map((task) => (
          <TaskItem key={task.task_id} task={task} investigation={investigation} canWork={canWork} />
        ))}
      </ul>
      {isAdding && <NewTask investigation_id={investigation_id} onClose={() => setAdding(false)} />}
    </section>
  )
}

interface TaskItemProps {
  readonly task: Task
  readonly investigation: Investigation
  readonly canWork: boolean
}

/** Ticks at once, and sends what was ticked as soon as the tick before is stored. */
function useChecklist(stored: readonly boolean[], change: ApiMutation<TaskChange>) {
  const [wanted, setWanted] = useState<readonly boolean[] | null>(null)
  const { isRunning, problem, run } = change
  const isStored = wanted === null || wanted.every((is_done, at) => is_done === stored[at])
  useEffect(() => {
    if (wanted === null || isRunning) return
    if (isStored || problem !== null) setWanted(null)
    else run({ checklist: [...wanted] })
  }, [wanted, isStored, isRunning, problem, run])
  const shown = wanted ?? stored
  return {
    shown,
    isStored,
    tick: (place: number, isTicked: boolean) => {
      change.reset()
      setWanted(shown.map((is_done, at) => (at === place ? isTicked : is_done)))
    },
  }
}

interface TaskChange {
  readonly checklist: boolean[]
}

function TaskItem({ task, investigation, canWork }: TaskItemProps) {
  const { roles } = useMe()
  const [isEnding, setEnding] = useState(false)
  const { investigation_id } = investigation
  const { task_id, checklist, state, role, revision } = task
  const change = useApiMutation(
    (body: TaskChange) =>
      probity.PATCH('/api/investigations/{investigation_id}/tasks/{task_id}', {
        params: { path: { investigation_id, task_id } },
        body: { ...body, expected_revision: revision },
      }),
    { invalidates: touched },
  )
  const { shown, isStored, tick } = useChecklist(
    checklist.map(({ is_done }) => is_done),
    change,
  )
  const isMine = role === null || roles.includes(role)
  const isWaived = investigation.steps.some((step) => step.step_key === task.step_key && step.state === 'waived')
  const isOver = isNotNeeded({ state, of: investigation })
  const isNeeded = !isOver && !(isWaived && state === 'open')
  const isEditable = canWork && state === 'open' && isMine && isNeeded
  const isReady = isStored && shown.every(Boolean)
  return (
    <li id={toTaskElement(task_id)} tabIndex={-1} className="case-task" data-state={state}>
      <div className="case-step-head">
        <span className="case-step-title">{task.title}</span>
        <TaskState state={state} isNeeded={isNeeded} />
      </div>
      {task.detail !== null && <div className="case-note">{task.detail}</div>}
      <Text size="xs" c="dimmed" component="div">
        {[task.is_required ? 'required' : 'optional', role === null ? null : `for ${toWords(role)}`]
          .filter(Boolean)
          .join(', ')}
        {task.due_at !== null && state === 'open' && isNeeded && (
          <>
            , due <RelativeTime at={task.due_at} />
          </>
        )}
        {task.ended_by !== null && (
          <>
            , <CaseAuthor of={task.ended_by} />
          </>
        )}
      </Text>
      {!isNeeded && (
        <Text size="xs" c="dimmed">
          {isOver ? describeNotNeeded(investigation) : 'Its step was waived.'}
        </Text>
      )}
      <Stack gap={4} mt={4}>
        {checklist.map((item, place) => (
          <Checkbox
            key={item.text}
            size="xs"
            label={item.text}
            checked={shown[place] ?? false}
            disabled={!isEditable}
            onChange={({ currentTarget: { checked } }) => tick(place, checked)}
          />
        ))}
      </Stack>
      {task.result !== null && <div className="case-note">{task.result}</div>}
      <ProblemNote problem={change.problem} />
      {canWork && state === 'open' && !isMine && isNeeded && (
        <Text size="xs" c="dimmed">
          Only somebody with the role {toWords(role ?? '')} can work on it.
        </Text>
      )}
      {isEditable && (
        <Group gap={8} mt={6}>
          <Button
            size="compact-xs"
            variant="default"
            disabled={!isReady}
            loading={change.isRunning}
            onClick={() => setEnding(true)}
          >
            Done
          </Button>
          {!shown.every(Boolean) && (
            <Text span size="xs" c="dimmed">
              Confirm every item first.
            </Text>
          )}
        </Group>
      )}
      {isEnding && <EndTask task={task} investigation_id={investigation_id} onClose={() => setEnding(false)} />}
    </li>
  )
}

interface EndTaskProps {
  readonly task: Task
  readonly investigation_id: string
  readonly onClose: () => void
}

function EndTask({ task: { task_id, title, revision }, investigation_id, onClose }: EndTaskProps) {
  const [result, setResult] = useState('')
  const end = useApiMutation(
    () =>
      probity.PATCH('/api/investigations/{investigation_id}/tasks/{task_id}', {
        params: { path: { investigation_id, task_id } },
        body: { state: 'done', result: result.trim() === '' ? null : result, expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Task done', onDone: onClose },
  )
  return (
    <FormDialog
      title="End the task"
      isOpen
      onClose={onClose}
      onSubmit={() => end.run(undefined)}
      submit="Done"
      change={end}
    >
      <Text size="sm">{title}</Text>
      <ReasonField label="What was found" isRequired={false} isFirst value={result} onChange={setResult} />
    </FormDialog>
  )
}

function NewTask({ investigation_id, onClose }: { readonly investigation_id: string; readonly onClose: () => void }) {
  const [title, setTitle] = useState('')
  const [items, setItems] = useState<string[]>([])
  const [is_required, setRequired] = useState(false)
  const [due, setDue] = useState('')
  const add = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/tasks', {
        params: { path: { investigation_id } },
        body: {
          title,
          is_required,
          checklist: items,
          due_at: toInstant(due) ?? null,
        },
      }),
    { invalidates: touched, successMessage: 'Task added', onDone: onClose },
  )
  return (
    <FormDialog
      title="Add a task"
      isOpen
      onClose={onClose}
      onSubmit={() => add.run(undefined)}
      submit="Add"
      change={add}
    >
      <TextField label="Task" isRequired isFirst max={300} value={title} onChange={setTitle} />
      <ChecklistField onChange={setItems} />
      <TimeField label="Due" value={due} onChange={setDue} />
      <RequiredField isRequired={is_required} onChange={setRequired} />
    </FormDialog>
  )
}
