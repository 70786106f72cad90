/**
 * State table of a move to another bus: from phase and event to action and next phase. A pair that is not in the table changes nothing, because an
 * event may come late.
 *
 *     CONNECTING --ready--> SUBSCRIBING --confirmed--> FLUSHING --flushed--> LEAVING --drained--> OVERTAKING
 *         |                      \________________________/                     |              |        |
 *         |                         | refused, late, tooMuch                 newEnded      newEnded  caughtUp
 *         |                         v                                           v              |        v
 *         '--- stay ---> OVER <-- UNDOING                                    NEW_LOST --> OVER <'      MOVED
 *
 * If the old connection ends after `ready`, the client stays at the new bus. If the new one ends after `flushed`, the client receives the rest
 * of the old bus and comes back. In OVERTAKING the old bus has drained, and frames that the new one had sent before may not be read yet. Sending
 * is ordered and never waits here, so that events go to the new bus from LEAVING on.
 *
 * @typedef {'CONNECTING' | 'SUBSCRIBING' | 'FLUSHING' | 'LEAVING' | 'OVERTAKING' | 'NEW_LOST' | 'UNDOING' | 'MOVED' | 'OVER'} Phase
 * @typedef {'ready' | 'unreachable' | 'confirmed' | 'refused' | 'tooMuch' | 'late' | 'flushed' | 'notFlushed' | 'askAgain' | 'drained'
 *   | 'caughtUp' | 'behind' | 'waited' | 'newEnded' | 'oldEnded' | 'undone' | 'closed'} Happening
 * @typedef {'nothing' | 'subscribe' | 'flush' | 'pause' | 'leave' | 'catchUp' | 'releaseAndFinish' | 'interruptAndFinish' | 'goOn' | 'loseSending' | 'waitOn'
 *   | 'comeBack' | 'loseSendingAndComeBack' | 'undo' | 'stayUnbegun' | 'stay' | 'abandon'} Action
 */

/** @type {Record<Phase, Partial<Record<Happening, [Phase, Action]>>>} */
const TABLE = {
  CONNECTING: {
    ready: ['SUBSCRIBING', 'subscribe'],
    unreachable: ['OVER', 'stayUnbegun'],
    late: ['OVER', 'stayUnbegun'],
    oldEnded: ['OVER', 'abandon'],
    closed: ['OVER', 'abandon'],
  },
  SUBSCRIBING: {
    confirmed: ['FLUSHING', 'flush'],
    refused: ['UNDOING', 'undo'],
    tooMuch: ['UNDOING', 'undo'],
    late: ['UNDOING', 'undo'],
    newEnded: ['OVER', 'stay'],
    oldEnded: ['MOVED', 'goOn'],
    closed: ['OVER', 'abandon'],
  },
  FLUSHING: {
    flushed: ['LEAVING', 'leave'],
    notFlushed: ['FLUSHING', 'pause'],
    askAgain: ['FLUSHING', 'flush'],
    tooMuch: ['UNDOING', 'undo'],
    late: ['UNDOING', 'undo'],
    newEnded: ['OVER', 'stay'],
    oldEnded: ['MOVED', 'goOn'],
    closed: ['OVER', 'abandon'],
  },
  LEAVING: {
    drained: ['OVERTAKING', 'catchUp'],
    behind: ['LEAVING', 'waitOn'],
    waited: ['MOVED', 'interruptAndFinish'],
    newEnded: ['NEW_LOST', 'loseSending'],
    oldEnded: ['MOVED', 'interruptAndFinish'],
    closed: ['OVER', 'abandon'],
  },
  OVERTAKING: {
    caughtUp: ['MOVED', 'releaseAndFinish'],
    newEnded: ['OVER', 'loseSendingAndComeBack'],
    oldEnded: ['MOVED', 'releaseAndFinish'],
    closed: ['OVER', 'abandon'],
  },
  NEW_LOST: {
    drained: ['OVER', 'comeBack'],
    behind: ['NEW_LOST', 'waitOn'],
    waited: ['OVER', 'comeBack'],
    oldEnded: ['OVER', 'abandon'],
    closed: ['OVER', 'abandon'],
  },
  UNDOING: {
    undone: ['OVER', 'stay'],
    newEnded: ['OVER', 'stay'],
    oldEnded: ['OVER', 'abandon'],
    closed: ['OVER', 'abandon'],
  },
  MOVED: {},
  OVER: {},
};

/**
 * @param {Phase} phase
 * @param {Happening} happening
 * @returns {[Phase, Action]} the next phase and the action
 */
export const step = (phase, happening) => TABLE[phase][happening] ?? [phase, 'nothing'];
