/** The process that attacks, and the handle that its starter has on it. */
package io.eventbus.loadtest.attack.forked;
