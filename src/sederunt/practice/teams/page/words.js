// Every text the practice site shows, in one table.
"use strict";

(() => {
  /** @type {TeamsPractice} */
  const practice = window.practice;

  /** @type {Record<string, { heading: string, more?: string, id?: string, rejoin?: boolean, retry?: boolean }>} */
  const ENDS = {
    denied: { heading: "Sorry, but you were denied access to the meeting.", retry: true },
    blocked: { heading: "Sorry, we couldn't connect you.", retry: true },
    problem: { heading: "Connection failed", retry: true },
    locked: { heading: "Sorry, but you were denied access to the meeting.", more: "This meeting is locked.", retry: true },
    full: { heading: "Sorry, we couldn't connect you.", more: "The meeting is full.", retry: true },
    invalid: { heading: "Looks like the meeting URL is incorrect. Please check the URL and try again." },
    already_over: { heading: "The meeting has ended", rejoin: true },
    sign_in: { heading: "To join this Teams meeting, you need to be signed in to an account.", more: "Sign in to Teams to join, or contact the meeting organizer" },
    removed: { heading: "You've been removed from this meeting", id: "calling-retry-screen-title" },
    over: { heading: "The meeting has ended", rejoin: true },
    left: { heading: "You left the meeting", rejoin: true },
  };

  const LOBBY = {
    lobby: "Someone will let you in shortly",
    waiting_for_host: "When the meeting starts, we'll let people know you're waiting. Someone will let you in when the meeting starts.",
    host_elsewhere: "Someone in the meeting should let you in soon",
  };

  const NOTICES = {
    recording: "Recording and transcription have started. By joining, you consent to this meeting being recorded.",
    alone: "Waiting for others to join",
  };

  let curly = false;

  /** @param {string} text */
  function say(text) {
    return curly ? text.replaceAll("'", "’") : text;
  }

  practice.words = { ENDS, LOBBY, NOTICES, say, useCurly: (/** @type {boolean} */ yes) => (curly = yes) };
})();
