/**
 * Received and missing sequence numbers of one producer and topic.
 *
 * A connection that has a subscription without a group for the topic gets every event: a skipped number is a gap, one that is not higher than the
 * last a duplicate. A connection with only group subscriptions gets a part of the events: there are no gaps, and only known numbers are duplicates.
 */
export class ProducerState {
  /**
   * @param {import('./routes.js').TopicHandlers} topic
   * @param {bigint} producer
   */
  constructor(topic, producer) {
    this.topic = topic;
    this.producer = producer;
    /** Set on use, cleared by the search for entries to forget. */
    this.touched = true;
    // 0 until the first event of a subscription without a group.
    this.last = 0;
    /** @type {Ranges | null} */
    this.reported = null;
    /** @type {Ranges | null} */
    this.seen = null;
  }

  /**
   * @param {number} first sequence of the first event
   * @param {number} count of events, at least 1
   * @param {boolean} complete whether this connection gets every event of the topic
   * @param {(from: number, to: number) => void} missing called with the range that is missing before them
   * @returns {number} number of duplicates, from the first event on
   */
  received(first, count, complete, missing) {
    const end = first + count - 1;
    const { last } = this;
    if (!complete || last === 0) {
      const seen = this.seen ??= new Ranges();
      const repeated = Math.min(seen.firstMissing(first) - first, count);
      seen.add(first, end);
      this.last = complete ? end : 0;
      return repeated;
    }
    if (end <= last) {
      return count;
    }
    if (first > last + 1) {
      this.gap(last + 1, first - 1, missing);
    }
    this.last = end;
    this.seen = null;
    return Math.max(0, last - first + 1);
  }

  /**
   * @param {number} from the first sequence that is missing
   * @param {number} to the last one
   * @param {(from: number, to: number) => void} missing called with the parts that were not reported before
   */
  gap(from, to, missing) {
    const reported = this.reported ??= new Ranges();
    reported.missing(from, to, missing);
    reported.add(from, to);
  }

  /** Forgets the last number, because the connection no longer gets every event. */
  forgetBaseline() {
    this.last = 0;
    this.seen = this.reported = null;
  }
}

const MAX_RANGES = 64;

/** A small set of sequence numbers, kept as ranges in ascending order; drops the lowest of too many ranges. */
export class Ranges {
  /** @type {[number, number][]} */
  #all = [];

  /**
   * @param {number} from
   * @param {number} to
   * @param {(from: number, to: number) => void} sink called with the parts of the range that are not in the set
   */
  missing(from, to, sink) {
    let at = from;
    for (const [low, high] of this.#all) {
      if (low > to || at > to) {
        break;
      }
      if (high >= at) {
        if (low > at) {
          sink(at, low - 1);
        }
        at = high + 1;
      }
    }
    if (at <= to) {
      sink(at, to);
    }
  }

  /**
   * @param {number} from
   * @returns {number} the first number from here on that is not in the set
   */
  firstMissing(from) {
    // Adjacent ranges are merged: the number behind a range is not in the set.
    const range = this.#all.find(([low, high]) => low <= from && from <= high);
    return range ? range[1] + 1 : from;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  add(from, to) {
    const all = this.#all;
    const last = all[all.length - 1];
    if (last && from === last[1] + 1) {
      // The usual case: the range follows the last one.
      last[1] = to;
      return;
    }
    let low = from;
    let high = to;
    const apart = all.filter(range => {
      if (range[1] < low - 1 || range[0] > high + 1) {
        return true;
      }
      low = Math.min(low, range[0]);
      high = Math.max(high, range[1]);
      return false;
    });
    const behind = apart.findIndex(range => range[0] > high);
    apart.splice(behind < 0 ? apart.length : behind, 0, [low, high]);
    if (apart.length > MAX_RANGES) {
      apart.shift();
    }
    this.#all = apart;
  }
}
